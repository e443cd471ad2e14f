"""Runs PTX on the CPU: a parser of the text that tkc writes, memory that watches its users, and a
machine that runs the warps of a block in a shuffled order.

Each lane has its own place in the code. Of a warp the lanes furthest behind go first, except that
`shfl` and `bar` wait until all of them are there. Between warps the seed of the machine decides who
goes next; independently of that order, two warps that touch a byte between the same two barriers
are reported as a race, unless both only read. What the instructions compute is in operations.py.
"""

import copy
import re

import numpy as np

import matrix
import operations

LANES = 32
ALL_ONES = 2**64 - 1
SHARED_BASE = 1 << 24
LOCAL_BASE = 1 << 32
GLOBAL_BASE = 1 << 40
GUARD_BYTES = 1024
STEPS_OF_BLOCK = 400_000
SWITCHING = (0.02, 0.0, 0.3)  # how probable it is that another warp goes on, by seed
POISON = 0xCD  # fills shared memory, which may be read before it is written, but not matter
BEHIND = 0xAB  # what a byte behind an array holds that is changed together with the array's last one
SEVERAL = 255  # stands for more warps than one
DECLARATIONS = (".reg", ".pragma", ".loc", ".file", ".local", ".param")


class Instruction:
    """One statement: `@!%p1 ld.global.v4.b32 {%r1, ...}, [%rd1+16]`, taken apart."""

    def __init__(self, text):
        self.text = text
        self.guard, self.negated = None, False
        guarded = re.match(r"@(!?)(%\w+) (.*)$", text)
        if guarded:
            self.negated, self.guard, text = bool(guarded[1]), guarded[2], guarded[3]
        name, _, operands = text.partition(" ")
        self.parts = name.split(".")
        self.opcode, self.type = self.parts[0], self.parts[-1]
        self.arguments = split_operands(operands)
        self.waits = self.opcode in ("bar", "barrier", "shfl", "ldmatrix", "mma")


def split_operands(text):
    """Cuts at the commas outside of braces and brackets; of `%p|%q` the second is dropped."""
    pieces, depth, start = [], 0, 0
    for place, letter in enumerate(text + ","):
        depth += (letter in "{[") - (letter in "}]")
        if letter == "," and depth == 0:
            pieces.append(text[start:place].strip().split("|")[0].strip())
            start = place + 1
    return [piece for piece in pieces if piece]


class Program:
    """The instructions of one entry or function, the places of its labels and the names of its
    parameters."""

    def __init__(self, text, symbol, kind=r"\.visible \.entry "):
        entry = re.search(kind + re.escape(symbol) + r"\s*\(([^()]*)\)\s*[^{};]*?\n\{(.*?)\n\}\n",
                          text, re.S)
        if not entry:
            raise LookupError(f"no entry {symbol} in the PTX")
        self.text, self.functions = text, {}
        self.parameters = re.findall(r"\.param [^,\n]*?(\w+)(?:\[\d+\])?(?:,|\s*$)", entry[1], re.M)
        self.instructions, self.labels = [], {}
        body = re.sub(r"//[^\n]*", "", entry[2])
        body = re.sub(r"^(\$L\w+):", r"\1:;", body, flags=re.M)
        body = re.sub(r";\s*\}", ";", re.sub(r"\{\s*\.reg [^;]*;", "", body))
        body = re.sub(r"^\s*[{}]\s*$", "", body, flags=re.M)
        self.local = re.search(r"\.local [^;]*?(__local_depot\d+)\[(\d+)\];", body)
        self.tables = {name: [int(byte) for byte in values.split(",")] for name, values in
                       re.findall(r"^\.global .*\.b8 (\w+)\[\d+\] = \{([^}]*)\};", text, re.M)}
        for statement in body.split(";"):
            statement = " ".join(statement.split())
            if statement.endswith(":"):
                self.labels[statement[:-1]] = len(self.instructions)
            elif statement and not statement.startswith(DECLARATIONS):
                self.instructions.append(Instruction(statement))


    def function(self, name):
        """What a `call` runs."""
        if name not in self.functions:
            self.functions[name] = Program(self.text, name, r"\.func [^\n;]*?")
        return self.functions[name]


class Fault(Exception):
    """The machine cannot go on."""


class Memory:
    """A range of addresses, of which only what was added may be touched.

    For each byte it is known which warp wrote and which read it last, and between which barriers.
    """

    def __init__(self, name, base, size):
        self.name, self.base = name, base
        self.data = np.zeros(size, np.uint8)
        self.valid = np.zeros(size, bool)
        self.stored = np.zeros(size, bool)
        self.write_time, self.read_time = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.writer, self.reader = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
        self.atomic_time, self.changer = np.zeros(size, np.int64), np.zeros(size, np.uint8)
        self.look_time, self.looker = np.zeros(size, np.int64), np.zeros(size, np.uint8)
        self.used = GUARD_BYTES
        self.problems, self.behind = {}, []

    def report(self, problem, text):
        self.problems.setdefault(f"{problem}: {text}", None)

    def add(self, rows, offset=0, packed=False):
        """Places the rows of a matrix of bytes, those beyond `rows.mask` untouchable; returns
        the address, which is `offset` past a multiple of 256. Of `packed` elements half a byte is changed
        in two bytes at once: the one behind an odd last one may be touched, and must keep what it holds."""
        data, valid = rows
        start = -(-self.used // 256) * 256 + offset
        self.used = start + data.size + GUARD_BYTES
        if self.used > self.data.size:
            raise Fault("the machine has too little memory")
        self.data[start : start + data.size] = data
        self.valid[start : start + data.size] = valid
        end = start + data.size
        if packed and end % 2:
            self.data[end], self.valid[end] = BEHIND, True
            self.behind.append(end)
        return self.base + start

    def faults(self):
        """What went wrong, in words."""
        changed = [place for place in self.behind if self.data[place] != BEHIND]
        return [*self.problems, *(f"the byte behind an array is changed, at {place}" for place in changed)]

    def bytes_at(self, address, size):
        return self.data[address - self.base :][:size]

    def places(self, addresses, size, instruction):
        """The indices of the bytes of each access, and which accesses are allowed."""
        misaligned = addresses % np.uint64(size) != 0
        if misaligned.any():
            self.report("misaligned", f"{instruction.text} at {int(addresses[misaligned][0]):#x}")
        offsets = addresses - np.uint64(self.base)
        inside = offsets < np.uint64(self.data.size - size)
        indices = np.where(inside, offsets, np.uint64(0)).astype(np.int64)[:, None]
        indices = indices + np.arange(size)
        allowed = inside & self.valid[indices].all(axis=1)
        if not allowed.all():
            first = int(addresses[~allowed][0]) - self.base
            self.report("out of bounds", f"{self.name} memory, {instruction.text}, offset {first}")
        return indices[allowed], allowed

    def change(self, addresses, size, instruction, warp, time, function):
        """Atomic operations, one access after the other: `function` gets the position of each among
        the accesses and the word that memory holds, and gives the new one. Returns the old ones.
        An ordered `ld` is one that leaves the word as it is."""
        indices, allowed = self.places(addresses, size, instruction)
        looks = instruction.opcode == "ld"
        for times, others, what in ((self.write_time, self.writer, "writes"),
                                    (self.read_time, self.reader, "reads"))[: 1 if looks else 2]:
            if ((times[indices] == time) & (others[indices] != warp)).any():
                self.report("race", f"{instruction.text} changes what another warp {what}")
        result = np.zeros(len(addresses), np.uint64)
        for position, bytes_of_it in zip(np.nonzero(allowed)[0], indices):
            old = int.from_bytes(self.data[bytes_of_it].tobytes(), "little")
            result[position] = old
            new = function(position, old) & (2 ** (8 * size) - 1)
            self.data[bytes_of_it] = np.frombuffer(new.to_bytes(size, "little"), np.uint8)
        if looks:
            others = (self.look_time[indices] == time) & (self.looker[indices] != warp)
            self.looker[indices] = np.where(others, SEVERAL, warp)
            self.look_time[indices] = time
            return result
        self.stored[indices] = True
        self.changer[indices], self.atomic_time[indices] = warp, time
        return result

    def load(self, addresses, size, instruction, warp, time):
        """Bytes [accesses, size]; zeros where the access is not allowed."""
        indices, allowed = self.places(addresses, size, instruction)
        if ((self.atomic_time[indices] == time) & (self.changer[indices] != warp)).any():
            self.report("race", f"{self.name} memory, {instruction.text} reads what another warp"
                        " changes")
        if ((self.write_time[indices] == time) & (self.writer[indices] != warp)).any():
            self.report("race", f"{self.name} memory, {instruction.text} reads what another warp"
                        " writes")
        if "nc" in instruction.parts and self.stored[indices].any():
            self.report("stale", f"{instruction.text} reads what the kernel wrote")
        shared = (self.read_time[indices] == time) & (self.reader[indices] != warp)
        self.reader[indices] = np.where(shared, SEVERAL, warp)
        self.read_time[indices] = time
        result = np.zeros((len(addresses), size), np.uint8)
        result[allowed] = self.data[indices]
        return result

    def store(self, addresses, values, instruction, warp, time):
        """Writes bytes [accesses, size]; several warps may write the same byte of one value."""
        indices, allowed = self.places(addresses, values.shape[1], instruction)
        values = values[allowed]
        if ((self.atomic_time[indices] == time) & (self.changer[indices] != warp)).any():
            self.report("race", f"{self.name} memory, {instruction.text} writes what another warp"
                        " changes")
        others = (self.write_time[indices] == time) & (self.writer[indices] != warp)
        if (others & (self.data[indices] != values)).any():
            self.report("race", f"{self.name} memory, {instruction.text} writes what another warp"
                        " writes")
        for times, readers in ((self.read_time, self.reader), (self.look_time, self.looker)):
            if ((times[indices] == time) & (readers[indices] != warp)).any():
                self.report("race", f"{self.name} memory, {instruction.text} writes what another warp"
                            " reads")
        self.data[indices] = values
        self.stored[indices] = True
        self.writer[indices], self.write_time[indices] = warp, time


class Warp:
    """32 lanes: registers, and the place of each lane in the code."""

    def __init__(self, machine, index, block, grid, threads):
        self.machine, self.index = machine, index
        self.origin = (index, block, grid, threads)
        self.slots = {}  # arguments and results of calls: bits by name and offset
        self.registers = {}
        self.place = np.zeros(LANES, np.int64)
        self.waiting, self.barriers = False, 0
        self.copies, self.groups = [], []  # asynchronous ones, begun and committed
        lanes = np.arange(LANES, dtype=np.uint64)
        special = {"%tid.x": lanes + np.uint64(LANES * index), "%laneid": lanes,
                   "%ntid.x": threads, "%tid.y": 0, "%tid.z": 0}
        for axis, of_block, of_grid in zip("xyz", block, grid):
            special[f"%ctaid.{axis}"], special[f"%nctaid.{axis}"] = of_block, of_grid
        for name, value in special.items():
            self.registers[name] = np.full(LANES, value, np.uint64)
        self.local = None
        if machine.program.local:  # each lane's memory has addresses of its own
            name, size = machine.program.local[1], -(-int(machine.program.local[2]) // 16) * 16
            self.registers[name] = np.uint64(LOCAL_BASE) + lanes * np.uint64(size)
            self.local = Memory("local", LOCAL_BASE, LANES * size + GUARD_BYTES)
            self.local.valid[: LANES * size] = True
            self.local.problems = machine.memory.problems

    def read(self, operand):
        """The bits of an operand: a register, a number or the name of shared memory."""
        found = self.registers.get(operand)
        if found is not None:
            return found
        if operand.startswith(("%", "__$")) or operand == "tmp":  # never written: anything; what uses it should not matter
            return np.full(LANES, 0xDEADBEEFDEADBEEF, np.uint64)
        constant = self.machine.constants.get(operand)
        if constant is None:
            constant = np.full(LANES, constant_bits(operand), np.uint64)
            self.machine.constants[operand] = constant
        return constant

    def write(self, operand, value, active):
        if operand != "_":
            self.registers[operand] = np.where(active, value, self.read(operand)) \
                if not active.all() else np.asarray(value).astype(np.uint64)

    def step(self):
        """One instruction of the lanes that are furthest behind and need not wait."""
        instructions = self.machine.program.instructions
        live = self.place < len(instructions)
        current = int(self.place.min())
        if instructions[current].waits and not (self.place[live] == current).all():
            ahead = [place for place in np.unique(self.place[live])
                     if not instructions[place].waits]
            if not ahead:
                raise Fault(f"lanes wait at different places, one at "
                            f"`{instructions[current].text}`")
            current = int(ahead[0])
        here = self.place == current
        instruction, active = instructions[current], here
        if instruction.guard:
            active = here & ((self.read(instruction.guard) != 0) != instruction.negated)
        self.place[here] = current + 1
        if instruction.opcode == "bra":
            self.place[active] = self.machine.program.labels[instruction.arguments[0]]
        elif instruction.opcode in ("ret", "exit"):
            self.place[active] = len(instructions)
        elif instruction.opcode in ("bar", "barrier"):
            self.waiting = True
            self.barriers += 1
        elif instruction.opcode in ("atom", "red") or is_ordered(instruction):
            self.atomic(instruction, active)
        elif instruction.opcode in ("ld", "st"):
            self.access(instruction, active)
        elif instruction.opcode == "cp":
            self.copy(instruction, active)
        elif instruction.opcode == "ldmatrix":
            matrix.load(self, instruction, active)
        elif instruction.opcode == "mma":
            matrix.multiply(self, instruction, active)
        elif instruction.opcode == "call":
            self.call(instruction, active)
        elif instruction.opcode in ("prefetch", "griddepcontrol"):
            pass
        else:
            operations.execute(self, instruction, active)

    def copy(self, instruction, active):
        """`cp.async`: what is copied arrives when it is waited for, as late as it may."""
        if "commit_group" in instruction.parts:
            self.groups.append(self.copies)
            self.copies = []
        elif "wait_group" in instruction.parts or "wait_all" in instruction.parts:
            pending = int(instruction.arguments[0]) if instruction.arguments else 0
            while len(self.groups) > pending:
                for target, bits, late in self.groups.pop(0):
                    self.machine.shared.store(target, bits, late, self.index, self.machine.time(self))
        else:
            self.begin_copy(instruction, active)

    def begin_copy(self, instruction, active):
        def address(operand):
            base, _, offset = operand.strip("[]").partition("+")
            return self.read(base) + np.uint64(int(offset or 0) & ALL_ONES)
        target, source, size, *read = instruction.arguments
        size = int(size)
        count = np.full(LANES, size, np.uint64)
        if read and read[0].startswith("%p"):  # a predicate: what is not read
            count = np.where(self.read(read[0]), 0, count)
        elif read:
            count = self.read(read[0])
        bits = np.zeros((LANES, size), np.uint8)
        whole = active & (count == size)
        if (active & ~whole & (count != 0)).any():
            raise NotImplementedError(instruction.text)
        if whole.any():
            bits[whole] = self.machine.memory.load(address(source)[whole], size, instruction,
                                                   self.index, self.machine.time(self))
        if active.any():
            self.copies.append((address(target)[active], bits[active], instruction))

    def call(self, instruction, active):
        """Runs a function with the active lanes, from its first to its last instruction."""
        parsed = re.match(r"call\S* (?:\((\w+)\), )?(\w+), \(([\w, ]*)\)", instruction.text)
        machine = copy.copy(self.machine)
        machine.program = self.machine.program.function(parsed[2])
        callee = Warp(machine, *self.origin)
        given = dict(zip(parsed[3].replace(" ", "").split(","), machine.program.parameters))
        callee.slots = {(given[name], offset): bits for (name, offset), bits in self.slots.items()
                        if name in given}
        callee.place[~active] = len(machine.program.instructions)
        while not callee.done():
            callee.step()
        for (name, offset), bits in callee.slots.items():
            if name == "func_retval0":
                self.slots[parsed[1], offset] = bits

    def access_parameter(self, instruction, register, base, offset):
        """A parameter of the kernel, or an argument or result of a call."""
        if instruction.opcode == "st":
            self.slots[base, offset] = self.read(register)
            return None
        bits = self.slots.get((base, offset))
        if bits is None:
            bits = np.full(LANES, self.machine.parameters[base] >> (8 * offset) & ALL_ONES, np.uint64)
        return bits & operations.mask_of(operations.width_of(instruction.type))

    def done(self):
        return bool((self.place >= len(self.machine.program.instructions)).all())

    def atomic(self, instruction, active):
        """`atom`, `red`, of one word or several, and `ld` and `st` with an order."""
        arguments = list(instruction.arguments)
        place = next(i for i, argument in enumerate(arguments) if argument.startswith("["))
        target, address = arguments[0] if place else None, arguments[place]
        base, _, offset = address.strip("[]").partition("+")
        addresses = (self.read(base) + np.uint64(int(offset or 0) & ALL_ONES))[active]
        names = arguments[place + 1 :]
        size = operations.width_of(instruction.type) // 8 * (2 if instruction.type.endswith("x2") else 1)
        if not len(addresses):
            return
        if names and names[0].startswith("{"):
            self.atomic_vector(instruction, active, addresses, names[0], size)
            return
        values = [self.read(name)[active].tolist() for name in names]
        old = self.machine.memory_of(instruction).change(
            addresses, size, instruction, self.index, self.machine.time(self),
            lambda position, word: operations.changed(instruction, word,
                                                      *[int(value[position]) for value in values]))
        if target:
            bits = np.zeros(LANES, np.uint64)
            bits[active] = old
            self.write(target, bits, active)

    def atomic_vector(self, instruction, active, addresses, names, size):
        """A `red` of several words: each is changed for itself, but they must lie where one access may."""
        memory = self.machine.memory_of(instruction)
        names = [name.strip() for name in names.strip("{}").split(",")]
        memory.places(addresses, size * len(names), instruction)
        for number, name in enumerate(names):
            values = self.read(name)[active].tolist()
            memory.change(addresses + np.uint64(size * number), size, instruction, self.index, self.machine.time(self),
                          lambda position, word, values=values: operations.changed(instruction, word, int(values[position])))

    def access(self, instruction, active):
        """`ld` and `st`, of parameters, global and shared memory, of one register or several."""
        loads = instruction.opcode == "ld"
        registers, address = instruction.arguments if loads else instruction.arguments[::-1]
        base, _, offset = address.strip("[]").partition("+")
        offset = int(offset or 0)
        width = operations.width_of(instruction.type)
        if "param" in instruction.parts:
            bits = self.access_parameter(instruction, registers, base, offset)
            if loads:
                self.write(registers, operations.extended(bits, instruction.type), active)
            return
        memory = self.local if "local" in instruction.parts else self.machine.memory_of(instruction)
        registers = [name.strip() for name in registers.strip("{}").split(",")]
        size = width // 8
        addresses = (self.read(base) + np.uint64(offset & ALL_ONES))[active]
        if not len(addresses):
            return
        time = self.machine.time(self)
        if not loads:
            values = [self.read(name)[active].view(np.uint8).reshape(-1, 8)[:, :size]
                      for name in registers]
            memory.store(addresses, np.concatenate(values, axis=1), instruction, self.index, time)
            return
        values = memory.load(addresses, size * len(registers), instruction, self.index, time)
        for position, name in enumerate(registers):
            words = np.zeros((len(addresses), 8), np.uint8)
            words[:, :size] = values[:, position * size : (position + 1) * size]
            bits = np.zeros(LANES, np.uint64)
            bits[active] = words.reshape(-1).view(np.uint64)
            self.write(name, operations.extended(bits, instruction.type), active)


def is_ordered(instruction):
    return instruction.opcode in ("ld", "st") and \
        bool({"relaxed", "acquire", "release", "volatile"} & set(instruction.parts))


def constant_bits(operand):
    """The bits of a number as PTX writes it."""
    if operand == "tkc_shared":
        return SHARED_BASE
    if operand[:2] in ("0f", "0d"):
        return int(operand[2:], 16)
    return int(operand.rstrip("U"), 0) & ALL_ONES


class Machine:
    """Runs the blocks of a grid, one after the other."""

    def __init__(self, program, memory, shared_bytes, seed):
        self.program, self.memory, self.shared_bytes = program, memory, shared_bytes
        self.random = np.random.default_rng(seed)
        self.switching = SWITCHING[seed % len(SWITCHING)]
        self.constants, self.parameters = {}, {}
        self.blocks, self.shared = 0, None
        for name, data in program.tables.items():
            row = np.array(data, np.uint8)
            address = memory.add((row, np.ones(row.size, bool)))
            self.constants[name] = np.full(LANES, address, np.uint64)

    def memory_of(self, instruction):
        for space, memory in (("global", self.memory), ("shared", self.shared)):
            if space in instruction.parts:
                return memory
        raise Fault(f"unknown memory: {instruction.text}")

    def time(self, warp):
        """A number for the time between two barriers of one block, never zero."""
        return (self.blocks << 32) + warp.barriers

    def launch(self, parameters, grid, threads, backwards=False):
        """`parameters` are the bits of each parameter."""
        if threads % LANES or len(parameters) != len(self.program.parameters):
            raise Fault("the launch does not fit the entry")
        self.parameters = dict(zip(self.program.parameters, parameters))
        blocks = [(x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])]
        for block in reversed(blocks) if backwards else blocks:
            self.run_block(block, grid, threads)

    def run_block(self, block, grid, threads):
        self.blocks += 1
        self.shared = Memory("shared", SHARED_BASE, self.shared_bytes + GUARD_BYTES)
        self.shared.valid[: self.shared_bytes] = True
        self.shared.data[:] = POISON
        self.shared.problems = self.memory.problems
        warps = [Warp(self, index, block, grid, threads) for index in range(threads // LANES)]
        current = None
        for _ in range(STEPS_OF_BLOCK):
            if current is None or current.waiting or current.done() \
                    or self.random.random() < self.switching:
                current = self.next_warp(warps)
                if current is None:
                    return
            current.step()
        raise Fault("a block takes too many steps")

    def next_warp(self, warps):
        """Any warp that can go on; when all of them wait, the barrier opens."""
        alive = [warp for warp in warps if not warp.done()]
        ready = [warp for warp in alive if not warp.waiting]
        if not ready:
            for warp in alive:
                warp.waiting = False
            ready = alive
        return ready[self.random.integers(len(ready))] if ready else None
