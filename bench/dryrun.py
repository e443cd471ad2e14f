"""run.py --dry-run: every configuration loaded and encoded by the real loader, without a GPU.

The driver is fake_cuda's; tensors are addresses only, aligned as an allocator's would be.
"""

import json
import os

import device
import fake_cuda
import plan
import tkcrt

_FIRST_ADDRESS = 1 << 34
_TENSORS = {"vector_add": {name: ("N",) for name in "xyz"},
            "softmax": {"x": ("M", "N"), "y": ("M", "N")},
            "rms_norm": {"x": ("M", "N"), "w": ("N",), "y": ("M", "N")}}


def _fake_tensors(case):
    """Views of the case's tensors at addresses that do not overlap."""
    views, address = {}, _FIRST_ADDRESS
    for name, dims in _TENSORS[case.family].items():
        shape = tuple(case.sizes[dim] for dim in dims)
        strides = (shape[1], 1) if len(shape) == 2 else (1,)
        views[name] = device.View(address, shape, strides, case.dtype)
        size = plan.ELEMENT_BYTES[case.dtype]
        for extent in shape:
            size *= extent
        address += -(-size // 512) * 512
    return views


def _bind(emulator, case, config, folder):
    """The encoded launch of a configuration, as a sentence."""
    path = os.path.join(folder, "cubins", config.spec.file_name)
    module = tkcrt.Module(path, resolver=emulator.resolver)
    emulator.register(module.metadata)
    kernel = module.kernel(config.spec.kernel)
    views = _fake_tensors(case)
    args = [views.get(arg, arg) if isinstance(arg, str) else arg for arg in config.args]
    bound = kernel.bind(*args)
    info = json.loads(kernel.describe(bound.variant))
    resources = info["resources"]
    return f"{info['id']} grid {bound.grid} block {bound.block[0]}, " \
           f"{resources['registers']} registers, spills {resources['spill_store_bytes']} B"


def list_cases(cases, folder):
    """Prints what would run. The problems, as texts."""
    emulator, problems = fake_cuda.Emulator(), []
    for case in cases:
        print(f"{case.family} {case.shape_text} {case.dtype}: {len(case.triton)} of Triton, torch")
        for config in case.tkc:
            try:
                print(f"  tkc {config.label}: {_bind(emulator, case, config, folder)}")
            except (tkcrt.Error, OSError, TypeError) as error:
                problems.append(f"{case.family} {case.shape_text} {case.dtype} {config.label}: "
                                f"{error}")
    return problems
