import { ARITY, EVM, endsRun, isPush, nextOf, pushed } from './bytecode.ts'

/**
 * A stack word as far as it is known without the call: its value or origin. `word`: the first word
 * of the call data; `left`: its first four bytes, padded with zeros; `selector`: these as a
 * number; `mixed`: computed from them alone, as in vyper's hash tables. `equal`: true if the
 * selector is one of these; `differs`: true if it is none.
 */
export type MachineValue =
  | bigint
  | { kind: 'unknown' | 'word' | 'left' | 'selector' | 'mixed' | 'keyed' }
  | { kind: 'equal' | 'differs'; selectors: readonly number[] }
  /** Length of the call data plus `more`. */
  | { kind: 'size'; more: bigint }
  /** Read from storage; `slot` is null if it depends on the selector. */
  | { kind: 'stored'; slot: bigint | null }
  /** Result of a call to another contract. */
  | { kind: 'returned'; by: MachineValue }

type Origin = Exclude<MachineValue, bigint>

/** These kinds have one object each, so identity distinguishes them. */
export const UNKNOWN_WORD: Origin = { kind: 'unknown' }
const FIRST_WORD: Origin = { kind: 'word' }
const LEFT_WORD: Origin = { kind: 'left' }
const SELECTOR_WORD: Origin = { kind: 'selector' }
const MIXED_WORD: Origin = { kind: 'mixed' }
const KEYED_WORD: Origin = { kind: 'keyed' }

interface MemoryWrite {
  at: number
  size: number
  /** A number of `size` bytes, or the word that begins there. */
  value: MachineValue
  before: MemoryWrite | null
}

interface MachineState {
  at: number
  stack: MachineValue[]
  memory: MemoryWrite | null
  /** Whether memory is all zeros but for what was written. */
  fresh: boolean
  /** Before the first call returned data is empty, which short code uses as zero. */
  called: boolean
}

export interface Watch {
  /** A branch requires one of these selectors. */
  selectors?(selectors: readonly number[]): void
  /** All call data is delegated to another contract. */
  delegates?(to: MachineValue): void
  logs?(topic: MachineValue): void
  /** False ends the path when it jumps. */
  worth?(stack: readonly MachineValue[]): boolean
  /** The selector is hashed: vyper looks up jumps in a hash table. */
  hashes?(): void
  done?(): boolean
}

/**
 * Runs code from an offset with unknown call data and stack, along every branch that a condition
 * leaves open; at a selector comparison only along the branch for other selectors.
 * Returns the number of steps, at most `budget`.
 */
export const explore = (code: Uint8Array, targets: Uint8Array, from: number, budget: number, watch: Watch): number => {
  const open: MachineState[] = [{ at: from, stack: [], memory: null, fresh: from === 0, called: false }]
  const visited = new Set<string>()
  let steps = 0
  const enter = (state: MachineState): boolean => {
    if (targets[state.at] !== 1 || watch.worth?.(state.stack) === false) return false
    // Return addresses distinguish the calls of one function.
    let key = String(state.at)
    for (const value of state.stack) key += typeof value === 'bigint' ? (value < code.length ? `,${value}` : '#') : ','
    if (visited.has(key)) return false
    visited.add(key)
    return true
  }
  const branch = (state: MachineState, target: MachineValue) => {
    if (typeof target !== 'bigint' || target >= code.length) return
    const next = { ...state, at: Number(target), stack: state.stack.slice() }
    if (enter(next)) open.push(next)
  }

  while (open.length > 0) {
    const state = open.pop()!
    const { stack } = state
    const pop = (): MachineValue => stack.pop() ?? UNKNOWN_WORD
    for (;;) {
      if (steps++ >= budget || watch.done?.() === true) return steps
      const { at } = state
      const opcode = code[at] ?? EVM.STOP
      state.at = nextOf(code, at)
      if (opcode === EVM.PUSH0) stack.push(0n)
      else if (isPush(opcode)) stack.push(pushed(code, at))
      else if (opcode >= EVM.DUP1 && opcode <= EVM.DUP16) stack.push(stack.at(EVM.DUP1 - opcode - 1) ?? UNKNOWN_WORD)
      else if (opcode >= EVM.SWAP1 && opcode <= EVM.SWAP16) {
        const depth = opcode - EVM.SWAP1 + 2
        while (stack.length < depth) stack.unshift(UNKNOWN_WORD)
        const other = stack.length - depth
        const top = stack.length - 1
        const swapped = stack[other]!
        stack[other] = stack[top]!
        stack[top] = swapped
      } else if (opcode === EVM.JUMP) {
        branch(state, pop())
        break
      } else if (opcode === EVM.JUMPI) {
        const target = pop()
        const condition = pop()
        if (typeof condition === 'bigint') {
          if (condition === 0n) continue
          branch(state, target)
          break
        }
        if (isCondition(condition)) {
          watch.selectors?.(condition.selectors)
          if (condition.kind === 'equal') continue
          branch(state, target)
          break
        }
        branch(state, target)
        if (watch.worth?.(stack) === false) break
      } else if (endsRun(opcode)) break
      else if (
        !step(code, opcode, at, state, watch, values => {
          if (open.length > MAX_OPEN) return stack.push(UNKNOWN_WORD)
          for (let i = values - 1; i > 0; i--) open.push({ ...state, stack: [...stack, BigInt(i)] })
          return stack.push(0n)
        })
      )
        break
      if (stack.length > MAX_WORDS) break
    }
  }
  return steps
}

/** Words on the stack; dispatchers of compilers need a dozen. */
const MAX_WORDS = 128
/** Open paths. A hash table of functions opens one for each bucket, and one for each function. */
const MAX_OPEN = 1024

const MASK_256 = (1n << 256n) - 1n
const MASK_32 = 0xffffffffn
const SHIFT = 224n
const MAX_BUCKETS = 512n

/** Runs one instruction except jumps and pushes of constants. False ends the path. */
const step = (
  code: Uint8Array,
  opcode: number,
  at: number,
  state: MachineState,
  watch: Watch,
  fork: (values: number) => unknown,
): boolean => {
  const { stack } = state
  const pop = (): MachineValue => stack.pop() ?? UNKNOWN_WORD
  const push = (value: MachineValue): true => {
    stack.push(value)
    return true
  }
  switch (opcode) {
    case EVM.JUMPDEST:
      return true
    case EVM.ISZERO:
      return push(isZero(pop()))
    case EVM.NOT: {
      const a = pop()
      return push(typeof a === 'bigint' ? a ^ MASK_256 : UNKNOWN_WORD)
    }
    case EVM.MOD:
    case EVM.AND: {
      const [a, b] = [pop(), pop()]
      const buckets = countBuckets(opcode, a, b)
      if (buckets === 0) return push(evaluate(opcode, a, b))
      watch.hashes?.()
      fork(buckets)
      return true
    }
    case EVM.CALLDATALOAD:
      return push(pop() === 0n ? FIRST_WORD : UNKNOWN_WORD)
    case EVM.CALLDATASIZE:
      return push({ kind: 'size', more: 0n })
    case EVM.CODESIZE:
      return push(BigInt(code.length))
    case EVM.PC:
      return push(BigInt(at))
    case EVM.RETURNDATASIZE:
      return push(state.called ? UNKNOWN_WORD : 0n)
    case EVM.SLOAD: {
      const slot = pop()
      if (slot === KEYED_WORD) return push({ kind: 'stored', slot: null })
      return push(typeof slot === 'bigint' ? { kind: 'stored', slot } : UNKNOWN_WORD)
    }
    case EVM.MLOAD:
      return push(load(state, pop()))
    case EVM.MSTORE:
      store(state, pop(), 32, pop())
      return true
    case EVM.KECCAK256: {
      const key = load(state, pop())
      pop()
      return push(key === LEFT_WORD || key === FIRST_WORD ? KEYED_WORD : UNKNOWN_WORD)
    }
    case EVM.CALLDATACOPY: {
      const [place, source, size] = [pop(), pop(), pop()]
      const length = typeof size === 'bigint' ? Number(size) : Number.MAX_SAFE_INTEGER
      store(state, place, length, source === 0n ? FIRST_WORD : UNKNOWN_WORD)
      return true
    }
    case EVM.CODECOPY: {
      const [place, source, size] = [pop(), pop(), pop()]
      if (typeof size !== 'bigint' || typeof source !== 'bigint' || size > 32n) return true
      let value = 0n
      for (let i = 0; i < Number(size); i++) value = (value << 8n) | BigInt(code[Number(source) + i] ?? 0)
      store(state, place, Number(size), value)
      return true
    }
    case EVM.CALL:
    case EVM.STATICCALL: {
      pop()
      const to = pop()
      for (let i = opcode === EVM.CALL ? 3 : 2; i > 0; i--) pop()
      store(state, pop(), 32, { kind: 'returned', by: to })
      pop()
      state.called = true
      return push(UNKNOWN_WORD)
    }
    case EVM.DELEGATECALL: {
      const [, to, input, size] = [pop(), pop(), pop(), pop(), pop(), pop()]
      push(UNKNOWN_WORD)
      state.called = true
      if (typeof size !== 'object' || size.kind !== 'size' || size.more < 0n) return true
      if (typeof input === 'bigint' && load(state, input) !== FIRST_WORD) return true
      watch.delegates?.(to!)
      return false
    }
  }
  if (opcode in COMPUTE) return push(evaluate(opcode, pop(), pop()))
  if (opcode >= EVM.LOG1 && opcode <= EVM.LOG4) watch.logs?.(stack.at(-3) ?? UNKNOWN_WORD)
  const arity = ARITY[opcode]!
  for (let popped = arity >> 4; popped > 0; popped--) stack.pop()
  for (let pushed = arity & 15; pushed > 0; pushed--) stack.push(UNKNOWN_WORD)
  return true
}

const isZero = (a: MachineValue): MachineValue => {
  if (typeof a === 'bigint') return a === 0n ? 1n : 0n
  if (a === SELECTOR_WORD) return { kind: 'equal', selectors: [0] }
  return isCondition(a) ? { kind: a.kind === 'equal' ? 'differs' : 'equal', selectors: a.selectors } : UNKNOWN_WORD
}

/** A word of known origin and a number, in either order; undefined for other pairs. */
const originAndNumber = (a: MachineValue, b: MachineValue): { origin: Origin; number: bigint } | undefined => {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? undefined : { origin: b, number: a }
  return typeof b === 'bigint' ? { origin: a, number: b } : undefined
}

/** Number of hash table buckets that the selector is reduced to here, or 0. */
const countBuckets = (opcode: number, a: MachineValue, b: MachineValue): number => {
  const { origin, number } = originAndNumber(a, b) ?? {}
  if (number === undefined || (origin !== SELECTOR_WORD && origin !== MIXED_WORD)) return 0
  if (opcode === EVM.MOD) return origin === a && number <= MAX_BUCKETS ? Number(number) : 0
  return number < MAX_BUCKETS && (number & (number + 1n)) === 0n ? Number(number) + 1 : 0
}

/** A word derived from one of known origin, such as an address in a slot, keeps the origin. */
const compound = (a: MachineValue, b: MachineValue): MachineValue => {
  if (typeof a === 'object' && typeof b === 'object') {
    const [one, other] = isCondition(a) ? [a, b] : [b, a]
    if (!isCondition(one)) return UNKNOWN_WORD
    return isCondition(other) ? { kind: one.kind, selectors: [...one.selectors, ...other.selectors] } : one
  }
  const origin = originAndNumber(a, b)?.origin
  return origin?.kind === 'stored' || origin?.kind === 'returned' ? origin : UNKNOWN_WORD
}

type SelectorCondition = Extract<MachineValue, { kind: 'equal' | 'differs' }>

const isCondition = (value: MachineValue): value is SelectorCondition =>
  typeof value === 'object' && (value.kind === 'equal' || value.kind === 'differs')

/** Computes an opcode of two operands, as far as they are known. */
const evaluate = (opcode: number, a: MachineValue, b: MachineValue): MachineValue => {
  if (typeof a === 'bigint' && typeof b === 'bigint') return COMPUTE[opcode]!(a, b)
  const { origin, number = 0n } = originAndNumber(a, b) ?? {}
  switch (opcode) {
    case EVM.AND:
      if (origin === FIRST_WORD || origin === LEFT_WORD)
        return number === MASK_32 << SHIFT ? LEFT_WORD : number === MASK_256 ? origin : UNKNOWN_WORD
      if (origin === SELECTOR_WORD) return (number & MASK_32) === MASK_32 ? SELECTOR_WORD : MIXED_WORD
      if (origin === MIXED_WORD) return MIXED_WORD
      if (origin?.kind === 'equal') return number & 1n ? origin : 0n
      return compound(a, b)
    case EVM.EQ:
    case EVM.XOR:
    case EVM.SUB: {
      const selector = comparedWith(a, b)
      if (selector !== null) return { kind: opcode === EVM.EQ ? 'equal' : 'differs', selectors: [selector] }
      if (opcode === EVM.SUB && typeof a === 'object' && a.kind === 'size') {
        if (typeof b === 'bigint') return { kind: 'size', more: a.more - b }
        if (b.kind === 'size') return BigInt.asUintN(256, a.more - b.more)
      }
      if (opcode === EVM.EQ) return a === 0n ? isZero(b) : b === 0n ? isZero(a) : UNKNOWN_WORD
      return compound(a, b)
    }
    case EVM.ADD: {
      // Solc may add the negative of what it compares with.
      const selector = comparedWith(negative(a), negative(b))
      if (selector !== null) return { kind: 'differs', selectors: [selector] }
      return origin?.kind === 'size' ? { kind: 'size', more: origin.more + number } : compound(a, b)
    }
    case EVM.SHR:
      if (origin !== b) return UNKNOWN_WORD
      if (b === FIRST_WORD || b === LEFT_WORD) return number === SHIFT ? SELECTOR_WORD : UNKNOWN_WORD
      return b === SELECTOR_WORD || b === MIXED_WORD ? MIXED_WORD : compound(a, b)
    case EVM.SHL:
      if (origin !== b) return UNKNOWN_WORD
      if (b === SELECTOR_WORD) return number === SHIFT ? LEFT_WORD : MIXED_WORD
      return b === MIXED_WORD ? MIXED_WORD : compound(a, b)
    case EVM.DIV:
      if (origin !== a) return UNKNOWN_WORD
      if (a === FIRST_WORD || a === LEFT_WORD) return number === 1n << SHIFT ? SELECTOR_WORD : UNKNOWN_WORD
      return compound(a, b)
    case EVM.MUL:
      if (origin === SELECTOR_WORD && number === 1n << SHIFT) return LEFT_WORD
      return origin === SELECTOR_WORD || origin === MIXED_WORD ? MIXED_WORD : compound(a, b)
    case EVM.OR:
      return compound(a, b)
    default:
      return UNKNOWN_WORD
  }
}

const negative = (a: MachineValue): MachineValue => (typeof a === 'bigint' ? BigInt.asUintN(256, -a) : a)

/** The selector that is compared, or null. */
const comparedWith = (a: MachineValue, b: MachineValue): number | null => {
  const { origin, number = 0n } = originAndNumber(a, b) ?? {}
  if (origin === SELECTOR_WORD) return number <= MASK_32 ? Number(number) : null
  if (origin !== LEFT_WORD && origin !== FIRST_WORD) return null
  return (number & ((1n << SHIFT) - 1n)) === 0n ? Number(number >> SHIFT) : null
}

/** Binary opcodes as functions of known numbers. */
const COMPUTE: Readonly<Record<number, (a: bigint, b: bigint) => bigint>> = {
  [EVM.ADD]: (a, b) => (a + b) & MASK_256,
  [EVM.MUL]: (a, b) => (a * b) & MASK_256,
  [EVM.SUB]: (a, b) => (a - b) & MASK_256,
  [EVM.DIV]: (a, b) => (b === 0n ? 0n : a / b),
  [EVM.MOD]: (a, b) => (b === 0n ? 0n : a % b),
  [EVM.EXP]: (a, b) => power(a, b),
  [EVM.LT]: (a, b) => (a < b ? 1n : 0n),
  [EVM.GT]: (a, b) => (a > b ? 1n : 0n),
  [EVM.EQ]: (a, b) => (a === b ? 1n : 0n),
  [EVM.AND]: (a, b) => a & b,
  [EVM.OR]: (a, b) => a | b,
  [EVM.XOR]: (a, b) => a ^ b,
  [EVM.SHL]: (a, b) => (a > 255n ? 0n : (b << a) & MASK_256),
  [EVM.SHR]: (a, b) => (a > 255n ? 0n : b >> a),
}

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n
  for (let rest = exponent, square = base; rest > 0n; rest >>= 1n, square = (square * square) & MASK_256)
    if (rest & 1n) result = (result * square) & MASK_256
  return result
}

/** Memory is unknown beyond this number of writes. */
const MAX_WRITES = 64

const store = (state: MachineState, place: MachineValue, size: number, value: MachineValue) => {
  if (typeof place === 'bigint' && place < 1n << 32n && size > 0)
    state.memory = { at: Number(place), size, value, before: state.memory }
}

const load = ({ memory, fresh }: MachineState, place: MachineValue): MachineValue => {
  if (typeof place !== 'bigint' || place >= 1n << 32n) return UNKNOWN_WORD
  const at = Number(place)
  const parts: MemoryWrite[] = []
  let writes = 0
  let whole = fresh
  for (let part = memory; part !== null; part = part.before) {
    if (++writes > MAX_WRITES) return UNKNOWN_WORD
    if (part.at >= at + 32 || part.at + part.size <= at) continue
    const covers = part.at <= at && part.at + part.size >= at + 32
    if (typeof part.value !== 'bigint') {
      if (parts.length > 0) return UNKNOWN_WORD
      // Older vyper writes the call data's first word at 28 and reads its first four bytes at 0.
      if (part.value === FIRST_WORD && part.at === at + 28) return SELECTOR_WORD
      return part.at === at && covers ? part.value : UNKNOWN_WORD
    }
    parts.push(part)
    if (covers) {
      whole = true
      break
    }
  }
  if (!whole) return UNKNOWN_WORD
  let value = 0n
  for (const part of parts.reverse()) {
    // Shift of the number within the 32 bytes: it may end before or after them.
    const shift = BigInt(8 * (at + 32 - part.at - part.size))
    const mask = (1n << BigInt(8 * part.size)) - 1n
    const moved = shift >= 0n ? (part.value as bigint) << shift : (part.value as bigint) >> -shift
    const covered = (shift >= 0n ? mask << shift : mask >> -shift) & MASK_256
    value = (value & ~covered) | (moved & covered)
  }
  return value
}
