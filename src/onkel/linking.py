"""Helpers of compiled code, compiled only as far as their callers need it.

Numba optimises every helper and turns it into machine code, and then does both again for the caller that it is linked
into. Only compiled code calls our helpers, so most of the first round would be for nothing: here it is left out. What
remains of it is that heavy helpers are optimised alone, and stay functions of their own: dissolved in their callers
before that, their loops were not vectorised, and `fogd` took 2.6 times as long.
"""

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class Linked(JITCodeLibrary):
    """A library that is there to be linked into others, and is not run itself."""

    heavy = False

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions if self.heavy else []:
            if not function.is_declaration:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LinkedLowering(NativeLowering):
    """Numba's last pass without its last step, machine code."""

    _name = "onkel_linked_lowering"

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = Linked(context.codegen(), state.func_id.func_qualname)
        state.library.heavy = not state.flags.forceinline
        state.flags = state.flags.copy()
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        if state.library.heavy:
            state.library._optimize_final_module()
        nowhere, description = 0, lowered.fndesc
        key = _dynfunc.make_function(
            description.lookup_module(), description.qualname, "a helper", nowhere, lowered.env, (state.library,)
        )
        context.insert_user_function(key, description, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


class HelperCompiler(CompilerBase):
    """Numba's compiler for functions that Python never calls."""

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [(LinkedLowering if own is NativeLowering else own, why) for own, why in pipeline.passes]
        pipeline.finalize()
        return [pipeline]
