/** Opcodes by the names of the yellow paper; opcodes that only move words are in `ARITY` alone. */
export const EVM = {
  STOP: 0x00,
  ADD: 0x01,
  MUL: 0x02,
  SUB: 0x03,
  DIV: 0x04,
  MOD: 0x06,
  EXP: 0x0a,
  LT: 0x10,
  GT: 0x11,
  EQ: 0x14,
  ISZERO: 0x15,
  AND: 0x16,
  OR: 0x17,
  XOR: 0x18,
  NOT: 0x19,
  SHL: 0x1b,
  SHR: 0x1c,
  KECCAK256: 0x20,
  CALLDATALOAD: 0x35,
  CALLDATASIZE: 0x36,
  CALLDATACOPY: 0x37,
  CODESIZE: 0x38,
  CODECOPY: 0x39,
  RETURNDATASIZE: 0x3d,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  SLOAD: 0x54,
  JUMP: 0x56,
  JUMPI: 0x57,
  PC: 0x58,
  JUMPDEST: 0x5b,
  PUSH0: 0x5f,
  PUSH1: 0x60,
  PUSH2: 0x61,
  PUSH30: 0x7d,
  PUSH32: 0x7f,
  DUP1: 0x80,
  DUP16: 0x8f,
  SWAP1: 0x90,
  SWAP16: 0x9f,
  LOG1: 0xa1,
  LOG4: 0xa4,
  CREATE: 0xf0,
  CALL: 0xf1,
  RETURN: 0xf3,
  DELEGATECALL: 0xf4,
  CREATE2: 0xf5,
  STATICCALL: 0xfa,
  REVERT: 0xfd,
  INVALID: 0xfe,
  SELFDESTRUCT: 0xff,
} as const

/** `16 × popped + pushed` words of an opcode; 255 if a byte is none. Excludes DUPs and SWAPs. */
export const ARITY: Uint8Array = (() => {
  const table = new Uint8Array(256).fill(255)
  const set = (taken: number, given: number, ...opcodes: number[]) => {
    for (const opcode of opcodes) table[opcode] = 16 * taken + given
  }
  const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
  set(0, 0, EVM.STOP, EVM.JUMPDEST, EVM.INVALID)
  set(
    2,
    1,
    ...from(0x01, 0x07),
    EVM.EXP,
    0x0b,
    ...from(0x10, 0x14),
    ...from(0x16, 0x18),
    ...from(0x1a, 0x1d),
    EVM.KECCAK256,
  )
  set(3, 1, 0x08, 0x09, EVM.CREATE)
  set(1, 1, EVM.ISZERO, EVM.NOT, 0x1e, 0x31, EVM.CALLDATALOAD, 0x3b, 0x3f, 0x40, 0x49, EVM.MLOAD, EVM.SLOAD, 0x5c)
  set(0, 1, 0x30, 0x32, 0x33, 0x34, EVM.CALLDATASIZE, EVM.CODESIZE, 0x3a, EVM.RETURNDATASIZE, ...from(0x41, 0x48), 0x4a)
  set(0, 1, EVM.PC, 0x59, 0x5a, ...from(EVM.PUSH0, EVM.PUSH32))
  set(0, 0, ...from(EVM.DUP1, EVM.SWAP16))
  set(3, 0, EVM.CALLDATACOPY, EVM.CODECOPY, 0x3e, 0x5e)
  set(4, 0, 0x3c)
  set(1, 0, EVM.POP, EVM.JUMP, EVM.SELFDESTRUCT)
  set(2, 0, EVM.MSTORE, 0x53, 0x55, EVM.JUMPI, 0x5d, EVM.RETURN, EVM.REVERT)
  for (const topics of [0, 1, 2, 3, 4]) set(topics + 2, 0, 0xa0 + topics)
  set(7, 1, EVM.CALL, 0xf2)
  set(6, 1, EVM.DELEGATECALL, EVM.STATICCALL)
  set(4, 1, EVM.CREATE2)
  return table
})()

export const isPush = (opcode: number): boolean => opcode >= EVM.PUSH1 && opcode <= EVM.PUSH32

export const endsRun = (opcode: number): boolean =>
  opcode === EVM.STOP ||
  opcode === EVM.JUMP ||
  opcode === EVM.RETURN ||
  opcode === EVM.REVERT ||
  opcode === EVM.SELFDESTRUCT ||
  ARITY[opcode] === 255 ||
  opcode === EVM.INVALID

export const nextOf = (code: Uint8Array, at: number): number => {
  const opcode = code[at]!
  return isPush(opcode) ? at + opcode - EVM.PUSH0 + 1 : at + 1
}

/** The number that an instruction pushes; zeros follow the end of the code. */
export const pushed = (code: Uint8Array, at: number): bigint => {
  let value = 0n
  const end = nextOf(code, at)
  for (let i = at + 1; i < end; i++) value = (value << 8n) | BigInt(code[i] ?? 0)
  return value
}

/** Keys that solc and vyper write into the metadata after the code. */
const METADATA_KEYS = ['ipfs', 'bzzr', 'solc', 'vyper', 'experimental'].map(key => Buffer.from(key))
/** Bytes. Those of real code are below a hundred. */
const METADATA_MOST = 512

/** Start of CBOR metadata after a program, whose last two bytes are its length; else the end. */
export const metadataStart = (code: Uint8Array): number => {
  if (code.length < 4) return code.length
  const length = (code[code.length - 2]! << 8) | code[code.length - 1]!
  // Solc counts the map alone, vyper the two bytes of the length, too.
  for (const start of [code.length - 2 - length, code.length - length]) {
    if (length < 4 || length > METADATA_MOST || start < 0) continue
    const head = code[start]! >> 4
    if (head !== 0xa && head !== 0x8) continue
    const text = Buffer.from(code.buffer, code.byteOffset + start, code.length - start)
    if (METADATA_KEYS.some(key => text.includes(key))) return start
  }
  return code.length
}

/** Marks the jump destinations: each JUMPDEST that is not data of a push. */
export const jumpTargets = (code: Uint8Array, end: number): Uint8Array => {
  const targets = new Uint8Array(code.length)
  for (let at = 0; at < end; at = nextOf(code, at)) if (code[at] === EVM.JUMPDEST) targets[at] = 1
  return targets
}

/**
 * Offsets of the instructions that may run, ascending: from the entries on, and from every offset
 * that such an instruction pushes. Excludes the code of contracts that this one creates, which
 * follows its own code, and tables and texts.
 */
export const findReachable = (code: Uint8Array, targets: Uint8Array, entries: Iterable<number>): number[] => {
  const seen = new Uint8Array(code.length)
  const open = [...entries]
  while (open.length > 0) {
    for (let at = open.pop()!; at < code.length && seen[at] === 0; at = nextOf(code, at)) {
      const opcode = code[at]!
      seen[at] = 1
      const width = opcode - EVM.PUSH0
      if (width >= 1 && width <= 4) {
        let target = 0
        for (let i = 1; i <= width; i++) target = target * 256 + (code[at + i] ?? 0)
        if (targets[target] === 1 && seen[target] === 0) open.push(target)
      }
      if (endsRun(opcode)) break
    }
  }
  const found: number[] = []
  for (let at = 0; at < seen.length; at++) if (seen[at] === 1) found.push(at)
  return found
}
