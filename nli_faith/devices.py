"""Which device and which number format, how many tokens a batch may hold there, and what a device says when memory runs out."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import nn

from nli_faith.errors import DeviceError, UsageError

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
# Padded tokens of a batch: large enough that starting kernels costs nothing, small enough for the caches of a CPU.
BUDGETS = {"cpu": 4096, "cuda": 65536, "mps": 16384}
# What CPUs, MPS, cuBLAS and cuDNN say: their errors have no type of their own.
_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory", "status_alloc_failed")


def pick_device(name: str) -> torch.device:
    """The device of that name; "auto" takes CUDA, then Apple's MPS, then the CPU.

    Raises:
        UsageError: no name of a device; DeviceError: no such device on this machine.
    """
    if name == "auto":
        best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device(best)
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UsageError(f"{name!r} is no device; give auto, cpu, cuda, cuda:N or mps.") from None
    if device.type not in BUDGETS:
        raise UsageError(f"{name!r} is no device nli-faith knows; give auto, cpu, cuda, cuda:N or mps.")
    # torch keeps the index in one byte, so that cuda:999 would be a negative one: the text decides.
    if device.type == "cuda" and int(name.partition(":")[2] or 0) >= torch.cuda.device_count():
        raise DeviceError(f"{name} is not there: this machine has {torch.cuda.device_count()} CUDA devices. Use --device cpu.")
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise DeviceError("mps is not there on this machine. Use --device cpu.")
    return device


def move(network: nn.Module, device: torch.device) -> nn.Module:
    """The network, with its weights on the device.

    Raises:
        DeviceError: the device is listed and can't be used, say for an old driver, or has no room for the weights.
    """
    if device.type == "cpu":
        return network
    try:
        network = network.to(device)
        torch.ones(1, device=device).add_(1).item()  # a torch built for other GPUs takes the weights and computes nothing
    except (RuntimeError, AssertionError) as error:  # that torch is built without CUDA is an assertion
        first, *_ = str(error).strip().splitlines() or [type(error).__name__]
        raise DeviceError(f"{device} can't be used: {first.rstrip('.')}. Use --device cpu.") from None
    return network


def no_memory(error: Exception) -> bool:
    """Whether an error of torch says that memory ran out."""
    if isinstance(error, torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in _NO_MEMORY)


def free_memory(device: torch.device) -> None:
    """Give back the memory of the device that torch keeps for later."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


def attention_kernels(device: torch.device) -> AbstractContextManager:
    """Inside it fused attention runs in kernels that are ready for any shape: on Hopper torch would take cuDNN, which plans anew
    for every shape. The setting is of the process and only of speed, so threads may cross.
    """
    if device.type != "cuda":
        return nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])


def cpu_has_bf16() -> bool:
    """The CPU multiplies bf16 in hardware (AVX-512 BF16 or AMX)."""
    checks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, check, lambda: False)() for check in checks)


def pick_dtype(name: str, device: torch.device, card_dtype: str | None) -> str:
    """The dtype of that name; "auto" takes what the device computes fastest without losing verdicts."""
    if name != "auto":
        return name
    if device.type == "cuda":
        return card_dtype or "fp16"
    if device.type == "cpu" and cpu_has_bf16():
        return card_dtype or "bf16"
    return "fp32"


def pick_devices(names: str) -> list[str]:
    """The devices of a list such as "cuda:0,cuda:1", or of "all", which is every CUDA device; a name may come twice.

    Raises:
        DeviceError: one is not there, or none is; UsageError: they are not of one kind.
    """
    if names == "all":
        count = torch.cuda.device_count()
        if not count:
            raise DeviceError("--devices all means all CUDA devices, and torch sees none. Leave it out, or use --device cpu.")
        return [f"cuda:{index}" for index in range(count)]
    listed = [name.strip() for name in names.split(",") if name.strip()]
    if not listed:
        raise UsageError("--devices names no device; give for example cuda:0,cuda:1 or all.")
    kinds = {pick_device(name).type for name in listed}
    if len(kinds) > 1:
        raise UsageError(f"--devices {names} mixes {' and '.join(sorted(kinds))}, which do not give the same numbers.")
    return listed


def threads_each(devices: list[str]) -> int | None:
    """Threads of torch for each of several processes: an equal share of the cores on CPUs, None elsewhere."""
    if any(pick_device(name).type != "cpu" for name in devices):
        return None
    return max(1, torch.get_num_threads() // len(devices))


def use_threads(count: int) -> None:
    """Threads of torch in this process."""
    torch.set_num_threads(count)
