import { ARITY, endsRun, isPush, nextOf, OP, pushed } from './bytecode.ts'

/**
 * What is known of a word on the stack without the call: its value, or where it comes from. `word` is the first word of the call data,
 * `left` its first four bytes with zeros behind them, `selector` these as a number, `mixed` whatever is computed of them alone,
 * as vyper's hash tables do. `equal` holds where the selector is one of these, `differs` where it is none.
 */
export type Value =
  | bigint
  | { kind: 'unknown' | 'word' | 'left' | 'selector' | 'mixed' | 'keyed' }
  | { kind: 'equal' | 'differs'; selectors: readonly number[] }
  /** The call data's length, and more. */
  | { kind: 'size'; more: bigint }
  /** Read from storage, from a slot that depends on the selector where there is none. */
  | { kind: 'stored'; slot: bigint | null }
  /** What another contract returned. */
  | { kind: 'returned'; by: Value }

type Origin = Exclude<Value, bigint>

/** Values of these kinds are these very objects. */
export const UNKNOWN: Origin = { kind: 'unknown' }
const WORD: Origin = { kind: 'word' }
const LEFT: Origin = { kind: 'left' }
const SELECTOR: Origin = { kind: 'selector' }
const MIXED: Origin = { kind: 'mixed' }
const KEYED: Origin = { kind: 'keyed' }

/** The newest write to memory and those before it. */
interface Memory {
  at: number
  size: number
  /** A number of `size` bytes, or the word that begins there. */
  value: Value
  before: Memory | null
}

interface State {
  at: number
  stack: Value[]
  memory: Memory | null
  /** Whether memory is all zeros but for what was written. */
  fresh: boolean
  /** Before the first call the length of returned data is zero, which short code uses for its zeros. */
  called: boolean
}

export interface Watch {
  /** A branch is taken where the selector is one of these. */
  selectors?(selectors: readonly number[]): void
  /** All call data is handed on to the code of another contract, in this one's name. */
  delegates?(to: Value): void
  /** A log has this first topic. */
  logs?(topic: Value): void
  /** False ends the way when it jumps. */
  worth?(stack: readonly Value[]): boolean
  /** A hash of the selector is taken, by which vyper finds the place to jump to in a table. */
  hashes?(): void
  /** True ends all. */
  done?(): boolean
}

/**
 * Runs code from a place on without knowing the call, down every way that a condition leaves open; but where the selector is found, the
 * way on is the one where it is another. What a word is that was on the stack before is not known. Returns the steps that it took,
 * at most `budget`.
 */
export const explore = (code: Uint8Array, targets: Uint8Array, from: number, budget: number, watch: Watch): number => {
  const open: State[] = [{ at: from, stack: [], memory: null, fresh: from === 0, called: false }]
  const visited = new Set<string>()
  let steps = 0
  const enter = (state: State): boolean => {
    if (targets[state.at] !== 1 || watch.worth?.(state.stack) === false) return false
    // Places to return to are what tells one call of a function from another.
    let key = String(state.at)
    for (const value of state.stack) key += typeof value === 'bigint' ? (value < code.length ? `,${value}` : '#') : ','
    if (visited.has(key)) return false
    visited.add(key)
    return true
  }
  const branch = (state: State, target: Value) => {
    if (typeof target !== 'bigint' || target >= code.length) return
    const next = { ...state, at: Number(target), stack: state.stack.slice() }
    if (enter(next)) open.push(next)
  }

  while (open.length > 0) {
    const state = open.pop()!
    const { stack } = state
    const pop = (): Value => stack.pop() ?? UNKNOWN
    for (;;) {
      if (steps++ >= budget || watch.done?.() === true) return steps
      const { at } = state
      const opcode = code[at] ?? OP.STOP
      state.at = nextOf(code, at)
      if (opcode === OP.PUSH0) stack.push(0n)
      else if (isPush(opcode)) stack.push(pushed(code, at))
      else if (opcode >= OP.DUP1 && opcode <= OP.DUP16) stack.push(stack.at(OP.DUP1 - opcode - 1) ?? UNKNOWN)
      else if (opcode >= OP.SWAP1 && opcode <= OP.SWAP16) {
        const depth = opcode - OP.SWAP1 + 2
        while (stack.length < depth) stack.unshift(UNKNOWN)
        const other = stack.length - depth
        const top = stack.length - 1
        const swapped = stack[other]!
        stack[other] = stack[top]!
        stack[top] = swapped
      } else if (opcode === OP.JUMP) {
        branch(state, pop())
        break
      } else if (opcode === OP.JUMPI) {
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
          if (open.length > MAX_OPEN) return stack.push(UNKNOWN)
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

/** Words on a stack: the dispatchers of compilers need a dozen. */
const MAX_WORDS = 128
/** Ways that wait. A hash table of functions opens one for each bucket, and another for each function. */
const MAX_OPEN = 1024

const MASK_256 = (1n << 256n) - 1n
const MASK_32 = 0xffffffffn
const SHIFT = 224n
/** Buckets of a hash table of functions. */
const MAX_BUCKETS = 512n

/** Runs one instruction that neither jumps nor pushes what the code holds. False ends the path. */
const step = (
  code: Uint8Array,
  opcode: number,
  at: number,
  state: State,
  watch: Watch,
  fork: (values: number) => unknown,
): boolean => {
  const { stack } = state
  const pop = (): Value => stack.pop() ?? UNKNOWN
  const push = (value: Value): true => {
    stack.push(value)
    return true
  }
  switch (opcode) {
    case OP.JUMPDEST:
      return true
    case OP.ISZERO:
      return push(isZero(pop()))
    case OP.NOT: {
      const a = pop()
      return push(typeof a === 'bigint' ? a ^ MASK_256 : UNKNOWN)
    }
    case OP.MOD:
    case OP.AND: {
      const [a, b] = [pop(), pop()]
      const buckets = bucketsOf(opcode, a, b)
      if (buckets === 0) return push(evaluate(opcode, a, b))
      watch.hashes?.()
      fork(buckets)
      return true
    }
    case OP.CALLDATALOAD:
      return push(pop() === 0n ? WORD : UNKNOWN)
    case OP.CALLDATASIZE:
      return push({ kind: 'size', more: 0n })
    case OP.CODESIZE:
      return push(BigInt(code.length))
    case OP.PC:
      return push(BigInt(at))
    case OP.RETURNDATASIZE:
      return push(state.called ? UNKNOWN : 0n)
    case OP.SLOAD: {
      const slot = pop()
      if (slot === KEYED) return push({ kind: 'stored', slot: null })
      return push(typeof slot === 'bigint' ? { kind: 'stored', slot } : UNKNOWN)
    }
    case OP.MLOAD:
      return push(load(state, pop()))
    case OP.MSTORE:
      store(state, pop(), 32, pop())
      return true
    case OP.KECCAK256: {
      const key = load(state, pop())
      pop()
      return push(key === LEFT || key === WORD ? KEYED : UNKNOWN)
    }
    case OP.CALLDATACOPY: {
      const [place, source, size] = [pop(), pop(), pop()]
      const length = typeof size === 'bigint' ? Number(size) : Number.MAX_SAFE_INTEGER
      store(state, place, length, source === 0n ? WORD : UNKNOWN)
      return true
    }
    case OP.CODECOPY: {
      const [place, source, size] = [pop(), pop(), pop()]
      if (typeof size !== 'bigint' || typeof source !== 'bigint' || size > 32n) return true
      let value = 0n
      for (let i = 0; i < Number(size); i++) value = (value << 8n) | BigInt(code[Number(source) + i] ?? 0)
      store(state, place, Number(size), value)
      return true
    }
    case OP.CALL:
    case OP.STATICCALL: {
      pop()
      const to = pop()
      for (let i = opcode === OP.CALL ? 3 : 2; i > 0; i--) pop()
      store(state, pop(), 32, { kind: 'returned', by: to })
      pop()
      state.called = true
      return push(UNKNOWN)
    }
    case OP.DELEGATECALL: {
      const [, to, input, size] = [pop(), pop(), pop(), pop(), pop(), pop()]
      push(UNKNOWN)
      state.called = true
      if (typeof size !== 'object' || size.kind !== 'size' || size.more < 0n) return true
      if (typeof input === 'bigint' && load(state, input) !== WORD) return true
      watch.delegates?.(to!)
      return false
    }
  }
  if (opcode in COMPUTE) return push(evaluate(opcode, pop(), pop()))
  if (opcode >= OP.LOG1 && opcode <= OP.LOG4) watch.logs?.(stack.at(-3) ?? UNKNOWN)
  const arity = ARITY[opcode]!
  for (let popped = arity >> 4; popped > 0; popped--) stack.pop()
  for (let pushed = arity & 15; pushed > 0; pushed--) stack.push(UNKNOWN)
  return true
}

const isZero = (a: Value): Value => {
  if (typeof a === 'bigint') return a === 0n ? 1n : 0n
  if (a === SELECTOR) return { kind: 'equal', selectors: [0] }
  return isCondition(a) ? { kind: a.kind === 'equal' ? 'differs' : 'equal', selectors: a.selectors } : UNKNOWN
}

/** A word of known origin and a number, in either order; undefined where there is not one of each. */
const originAndNumber = (a: Value, b: Value): { origin: Origin; number: bigint } | undefined => {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? undefined : { origin: b, number: a }
  return typeof b === 'bigint' ? { origin: a, number: b } : undefined
}

/** The number of buckets among which the selector, or a hash of it, is divided here; zero where it is not. */
const bucketsOf = (opcode: number, a: Value, b: Value): number => {
  const { origin, number } = originAndNumber(a, b) ?? {}
  if (number === undefined || (origin !== SELECTOR && origin !== MIXED)) return 0
  if (opcode === OP.MOD) return origin === a && number <= MAX_BUCKETS ? Number(number) : 0
  return number < MAX_BUCKETS && (number & (number + 1n)) === 0n ? Number(number) + 1 : 0
}

/** A word that was cut out of one of known origin, such as an address out of a slot, keeps that origin. */
const compound = (a: Value, b: Value): Value => {
  if (typeof a === 'object' && typeof b === 'object') {
    const [one, other] = isCondition(a) ? [a, b] : [b, a]
    if (!isCondition(one)) return UNKNOWN
    return isCondition(other) ? { kind: one.kind, selectors: [...one.selectors, ...other.selectors] } : one
  }
  const origin = originAndNumber(a, b)?.origin
  return origin?.kind === 'stored' || origin?.kind === 'returned' ? origin : UNKNOWN
}

type Condition = Extract<Value, { kind: 'equal' | 'differs' }>

const isCondition = (value: Value): value is Condition =>
  typeof value === 'object' && (value.kind === 'equal' || value.kind === 'differs')

/** Computes an opcode of two operands as far as these are known. */
const evaluate = (opcode: number, a: Value, b: Value): Value => {
  if (typeof a === 'bigint' && typeof b === 'bigint') return COMPUTE[opcode]!(a, b)
  const { origin, number = 0n } = originAndNumber(a, b) ?? {}
  switch (opcode) {
    case OP.AND:
      if (origin === WORD || origin === LEFT)
        return number === MASK_32 << SHIFT ? LEFT : number === MASK_256 ? origin : UNKNOWN
      if (origin === SELECTOR) return (number & MASK_32) === MASK_32 ? SELECTOR : MIXED
      if (origin === MIXED) return MIXED
      if (origin?.kind === 'equal') return number & 1n ? origin : 0n
      return compound(a, b)
    case OP.EQ:
    case OP.XOR:
    case OP.SUB: {
      const selector = comparedWith(a, b)
      if (selector !== null) return { kind: opcode === OP.EQ ? 'equal' : 'differs', selectors: [selector] }
      if (opcode === OP.SUB && typeof a === 'object' && a.kind === 'size') {
        if (typeof b === 'bigint') return { kind: 'size', more: a.more - b }
        if (b.kind === 'size') return BigInt.asUintN(256, a.more - b.more)
      }
      if (opcode === OP.EQ) return a === 0n ? isZero(b) : b === 0n ? isZero(a) : UNKNOWN
      return compound(a, b)
    }
    case OP.ADD: {
      // Solc may add the negative of what it compares with.
      const selector = comparedWith(negative(a), negative(b))
      if (selector !== null) return { kind: 'differs', selectors: [selector] }
      return origin?.kind === 'size' ? { kind: 'size', more: origin.more + number } : compound(a, b)
    }
    case OP.SHR:
      if (origin !== b) return UNKNOWN
      if (b === WORD || b === LEFT) return number === SHIFT ? SELECTOR : UNKNOWN
      return b === SELECTOR || b === MIXED ? MIXED : compound(a, b)
    case OP.SHL:
      if (origin !== b) return UNKNOWN
      if (b === SELECTOR) return number === SHIFT ? LEFT : MIXED
      return b === MIXED ? MIXED : compound(a, b)
    case OP.DIV:
      if (origin !== a) return UNKNOWN
      if (a === WORD || a === LEFT) return number === 1n << SHIFT ? SELECTOR : UNKNOWN
      return compound(a, b)
    case OP.MUL:
      if (origin === SELECTOR && number === 1n << SHIFT) return LEFT
      return origin === SELECTOR || origin === MIXED ? MIXED : compound(a, b)
    case OP.OR:
      return compound(a, b)
    default:
      return UNKNOWN
  }
}

const negative = (a: Value): Value => (typeof a === 'bigint' ? BigInt.asUintN(256, -a) : a)

/** The selector that the call's is compared with, null where it is not. */
const comparedWith = (a: Value, b: Value): number | null => {
  const { origin, number = 0n } = originAndNumber(a, b) ?? {}
  if (origin === SELECTOR) return number <= MASK_32 ? Number(number) : null
  if (origin !== LEFT && origin !== WORD) return null
  return (number & ((1n << SHIFT) - 1n)) === 0n ? Number(number >> SHIFT) : null
}

/** Opcodes of two operands, by what they make of numbers. */
const COMPUTE: Readonly<Record<number, (a: bigint, b: bigint) => bigint>> = {
  [OP.ADD]: (a, b) => (a + b) & MASK_256,
  [OP.MUL]: (a, b) => (a * b) & MASK_256,
  [OP.SUB]: (a, b) => (a - b) & MASK_256,
  [OP.DIV]: (a, b) => (b === 0n ? 0n : a / b),
  [OP.MOD]: (a, b) => (b === 0n ? 0n : a % b),
  [OP.EXP]: (a, b) => power(a, b),
  [OP.LT]: (a, b) => (a < b ? 1n : 0n),
  [OP.GT]: (a, b) => (a > b ? 1n : 0n),
  [OP.EQ]: (a, b) => (a === b ? 1n : 0n),
  [OP.AND]: (a, b) => a & b,
  [OP.OR]: (a, b) => a | b,
  [OP.XOR]: (a, b) => a ^ b,
  [OP.SHL]: (a, b) => (a > 255n ? 0n : (b << a) & MASK_256),
  [OP.SHR]: (a, b) => (a > 255n ? 0n : b >> a),
}

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n
  for (let rest = exponent, square = base; rest > 0n; rest >>= 1n, square = (square * square) & MASK_256)
    if (rest & 1n) result = (result * square) & MASK_256
  return result
}

/** Further back memory is taken to be unknown. */
const MAX_WRITES = 64

const store = (state: State, place: Value, size: number, value: Value) => {
  if (typeof place === 'bigint' && place < 1n << 32n && size > 0)
    state.memory = { at: Number(place), size, value, before: state.memory }
}

const load = ({ memory, fresh }: State, place: Value): Value => {
  if (typeof place !== 'bigint' || place >= 1n << 32n) return UNKNOWN
  const at = Number(place)
  const parts: Memory[] = []
  let writes = 0
  let whole = fresh
  for (let part = memory; part !== null; part = part.before) {
    if (++writes > MAX_WRITES) return UNKNOWN
    if (part.at >= at + 32 || part.at + part.size <= at) continue
    const covers = part.at <= at && part.at + part.size >= at + 32
    if (typeof part.value !== 'bigint') {
      if (parts.length > 0) return UNKNOWN
      // Older vyper writes the call data's first word at 28 and reads its first four bytes at 0.
      if (part.value === WORD && part.at === at + 28) return SELECTOR
      return part.at === at && covers ? part.value : UNKNOWN
    }
    parts.push(part)
    if (covers) {
      whole = true
      break
    }
  }
  if (!whole) return UNKNOWN
  let value = 0n
  for (const part of parts.reverse()) {
    // The number's place in the 32 bytes: its last byte may lie before or behind theirs.
    const shift = BigInt(8 * (at + 32 - part.at - part.size))
    const mask = (1n << BigInt(8 * part.size)) - 1n
    const moved = shift >= 0n ? (part.value as bigint) << shift : (part.value as bigint) >> -shift
    const covered = (shift >= 0n ? mask << shift : mask >> -shift) & MASK_256
    value = (value & ~covered) | (moved & covered)
  }
  return value
}
