"""Write a saved model as an ONNX graph: rows in, labels, scores and probabilities out, without Python."""

import argparse
from contextlib import ExitStack
from typing import Any

from onkel.apps.cli.options import add_command, add_json
from onkel.apps.cli.writing import as_json, check_json, check_one_output, check_target, put, target
from onkel.core.terminal import show
from onkel.files.model_file import load_model
from onkel.integrations.onnx import to_onnx

EXAMPLES = """examples:
  onkel export model.onkel --onnx model.onnx"""
OUTPUTS = {"regression": ["prediction"]}


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = add_command(commands, "export", "write a saved model as an ONNX graph", __doc__, EXAMPLES)
    command.add_argument("model", metavar="MODEL", help="file that --save or --checkpoint wrote")
    command.add_argument("--onnx", required=True, type=target, metavar="FILE", help="write the graph there")
    add_json(command, "write what the graph takes and gives as JSON")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command."""
    check_target(options.onnx)
    check_json(options.json)
    quiet = check_one_output({"--onnx": options.onnx, "--json": options.json})
    online, answers, columns, _ = load_model(options.model)
    data = to_onnx(online, answers, columns)
    outputs = OUTPUTS.get(online.task, ["label", "scores", "probabilities"])
    told = {"model": options.model, "onnx": options.onnx, "task": online.task, "features": online.setting.n_features}
    told |= {} if columns.names is None else {"feature_names": columns.names}
    with ExitStack() as files:
        put(files, options.onnx, data)
        put(files, options.json, as_json({**told, "outputs": outputs, "bytes": len(data)}))
    if not quiet:
        show(f"{options.onnx}: rows (n, {online.setting.n_features}) of float64 to {', '.join(outputs)}")
