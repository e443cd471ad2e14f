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


def _fake_tensors(case):
    """Views of the case's tensors at addresses that do not overlap."""
    views, address = {}, _FIRST_ADDRESS
    for tensor in case.tensors:
        strides, size = [], 1
        for extent in reversed(tensor.shape):
            strides.insert(0, size)
            size *= extent
        views[tensor.name] = device.View(address, tensor.shape, tuple(strides), tensor.dtype)
        address += -(-size * plan.ELEMENT_BYTES[tensor.dtype] // 512) * 512
    return views


def _argument(views, arg):
    if isinstance(arg, plan.Rows):
        whole = views[arg.tensor]
        return device.View(whole.data_ptr(), (arg.count, *whole.shape[1:]), whole.stride(),
                           whole.dtype)
    return views.get(arg, arg) if isinstance(arg, str) else arg


def _bind(emulator, views, launch, folder):
    """An encoded launch, as a sentence."""
    path = os.path.join(folder, "cubins", launch.spec.file_name)
    module = tkcrt.Module(path, resolver=emulator.resolver)
    emulator.register(module.metadata)
    kernel = module.kernel(launch.spec.kernel)
    bound = kernel.bind(*(_argument(views, arg) for arg in launch.args))
    info = json.loads(kernel.describe(bound.variant))
    resources = info["resources"]
    return f"{launch.spec.kernel} {info['id']} grid {bound.grid} block {bound.block[0]}, " \
           f"{resources['registers']} registers, spills {resources['spill_store_bytes']} B"


def list_cases(cases, folder):
    """Prints what would run. The problems, as texts."""
    emulator, problems = fake_cuda.Emulator(), []
    for case in cases:
        print(f"{case.name}: {len(case.triton)} of Triton, the library's")
        views = _fake_tensors(case)
        for config in case.tkc:
            try:
                bound = [_bind(emulator, views, launch, folder) for launch in config.launches]
                print(f"  tkc {config.label}: {'; '.join(bound)}")
            except (tkcrt.Error, OSError, TypeError, KeyError) as error:
                problems.append(f"{case.name} {config.label}: {error!r}")
    return problems
