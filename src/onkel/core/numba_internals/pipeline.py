"""Compiled code whose parts are optimised once each.

Numba optimises every helper and turns it into machine code, and then does both again for each caller that it is linked
into, and for their callers. Only compiled code calls our helpers, so there is no machine code of them alone. Light
helpers are dissolved in their callers. Heavy ones are optimised alone and stay functions of their own: dissolved before
that, their loops were not vectorised, and `fogd` took 2.6 times as long. They are linked to an entry point after it has
been optimised, so that nothing optimises them again.

Gains: first compilation, and learning in blocks (`python -m benchmarks tricks`, the line of `pipeline`). Without it
Numba's own pipeline compiles each function, and what the compiler fuses may round differently.
"""

from typing import Any

from numba import _dynfunc, njit  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from onkel.core.numba_internals.tricks import used


class Whole(JITCodeLibrary):
    """The code of an entry point."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.later: dict[Linked, None] = {}  # heavy helpers, each after those that it calls

    def finalize(self) -> None:
        self.dissolve()
        self._optimize_final_module()
        self.complete(self._final_module)
        self._final_module.verify()
        self._finalize_final_module()

    def dissolve(self) -> None:
        """Link what the optimiser is to see; what it is not to see is for later."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            if not isinstance(library, Linked):
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
                continue
            self.later |= library.later
            if library.heavy:
                self.later[library] = None
            else:
                self._final_module.link_in(library.alone(), preserve=True)

    def complete(self, module: Any) -> None:
        """Link what was left for later, callers first: of what nobody calls yet nothing would be taken over."""
        for helper in reversed(self.later):
            module.link_in(helper.alone(), preserve=True)


class Linked(Whole):
    """The code of a helper, which is there to be linked to others, and is not run itself."""

    heavy = False

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions if self.heavy else []:
            if not function.is_declaration:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)

    def finalize(self) -> None:
        self.dissolve()
        if self.heavy:
            self._optimize_final_module()
        self._finalized = True

    def alone(self) -> Any:
        """Its module without what was left for later."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """For callers that are not ours: with all of it."""
        module = self.alone().clone()
        self.complete(module)
        return module


@register_pass(mutates_CFG=True, analysis_only=False)
class WholeLowering(NativeLowering):
    """Numba's last pass, with a library of ours."""

    _name = "onkel_whole_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


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
        nowhere, description = 0, lowered.fndesc
        key = _dynfunc.make_function(
            description.lookup_module(), description.qualname, "a helper", nowhere, lowered.env, (state.library,)
        )
        context.insert_user_function(key, description, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


class EntryCompiler(CompilerBase):
    """Numba's compiler with another last pass; with its own one where a trial has failed."""

    lowering: type[NativeLowering] = WholeLowering

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        lowering = self.lowering if used("pipeline") else NativeLowering
        pipeline.passes = [(lowering if own is NativeLowering else own, why) for own, why in pipeline.passes]
        pipeline.finalize()
        return [pipeline]


class HelperCompiler(EntryCompiler):
    """The same for functions that Python never calls."""

    lowering = LinkedLowering


ENTRY: dict[str, Any] = {"pipeline_class": EntryCompiler}
HELPER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": HelperCompiler}
LIGHT: dict[str, Any] = {"forceinline": True, **HELPER}
HEAVY: dict[str, Any] = {"forceinline": False, **HELPER}  # said, or it would be as its caller is
for _options in ENTRY, LIGHT, HEAVY:  # where one of them is unknown, this import fails and nothing uses them
    njit(**_options)(lambda: None)
