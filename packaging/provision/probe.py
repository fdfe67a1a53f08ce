"""Tests one kind of device in a separate process and prints a line of JSON.

A driver may print, hang or crash here without harm to the set-up.
"""

import json
import sys

import slangpy

SOURCE = """
[shader("compute")]
[numthreads(4, 1, 1)]
void answer(uint3 id: SV_DispatchThreadID, uniform RWStructuredBuffer<uint> result)
{
    result[id.x] = id.x * 7 + 3;
}
"""
EXPECTED = [3, 10, 17, 24]


def find(kind: str) -> dict[str, object]:
    """The first adapter that computes. Some drivers list adapters that cannot be opened."""
    device_type = getattr(slangpy.DeviceType, kind)
    problems = []
    for adapter in slangpy.Device.enumerate_adapters(device_type):
        try:
            return open_and_compute(kind, device_type, adapter)
        except RuntimeError as error:
            problems.append(f"{adapter.name}: {' '.join(str(error).split())[:300]}")
    return {"problem": "; ".join(problems) or "no driver offers a device"}


def open_and_compute(
    kind: str, device_type: slangpy.DeviceType, adapter: slangpy.AdapterInfo
) -> dict[str, object]:
    device = slangpy.Device(type=device_type, adapter_luid=adapter.luid)
    try:
        answer = compute(device)
        if answer != EXPECTED:
            raise RuntimeError(f"computed {answer} instead of {EXPECTED}")
        software = device.has_feature(slangpy.Feature.software_device)
        return {"kind": kind, "adapter": device.info.adapter_name, "software": software}
    finally:
        device.close()


def compute(device: slangpy.Device) -> list[int]:
    module = device.load_module_from_source("verdigris_probe", SOURCE)
    program = device.link_program([module], [module.entry_point("answer")])
    usage = slangpy.BufferUsage.unordered_access | slangpy.BufferUsage.shader_resource
    result = device.create_buffer(element_count=4, struct_size=4, usage=usage)
    device.create_compute_kernel(program).dispatch([4, 1, 1], result=result)
    return [int(value) for value in result.to_numpy().view("uint32")]


if __name__ == "__main__":
    found = find(sys.argv[1])
    print("\n" + json.dumps(found), flush=True)
