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

export const UNKNOWN: Value = { kind: 'unknown' }
const WORD: Value = { kind: 'word' }
const LEFT: Value = { kind: 'left' }
const SELECTOR: Value = { kind: 'selector' }
const MIXED: Value = { kind: 'mixed' }
const KEYED: Value = { kind: 'keyed' }

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
        !step(code, opcode, at, state, pop, watch, values => {
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

/** One instruction that neither jumps nor pushes what the code holds. False ends the way. */
const step = (
  code: Uint8Array,
  opcode: number,
  at: number,
  state: State,
  pop: () => Value,
  watch: Watch,
  fork: (values: number) => unknown,
): boolean => {
  const { stack } = state
  switch (opcode) {
    case OP.JUMPDEST:
      return true
    case OP.ISZERO: {
      stack.push(isZero(pop()))
      return true
    }
    case OP.MOD:
    case OP.AND: {
      const a = pop()
      const b = pop()
      const buckets = bucketsOf(opcode, a, b)
      if (buckets > 0) {
        watch.hashes?.()
        fork(buckets)
      } else stack.push(opcode === OP.AND ? and(a, b) : arithmetic(opcode, a, b))
      return true
    }
    case OP.ADD:
    case OP.MUL:
    case OP.SUB:
    case OP.DIV:
    case OP.EXP:
    case OP.LT:
    case OP.GT:
    case OP.EQ:
    case OP.OR:
    case OP.XOR:
    case OP.SHL:
    case OP.SHR:
      stack.push(arithmetic(opcode, pop(), pop()))
      return true
    case OP.NOT: {
      const a = pop()
      stack.push(typeof a === 'bigint' ? a ^ MASK_256 : UNKNOWN)
      return true
    }
    case OP.CALLDATALOAD:
      stack.push(pop() === 0n ? WORD : UNKNOWN)
      return true
    case OP.CALLDATASIZE:
      stack.push({ kind: 'size', more: 0n })
      return true
    case OP.CODESIZE:
      stack.push(BigInt(code.length))
      return true
    case OP.PC:
      stack.push(BigInt(at))
      return true
    case OP.RETURNDATASIZE:
      stack.push(state.called ? UNKNOWN : 0n)
      return true
    case OP.SLOAD: {
      const slot = pop()
      const known = typeof slot === 'bigint' ? { slot } : slot.kind === 'keyed' ? { slot: null } : undefined
      stack.push(known ? { kind: 'stored', ...known } : UNKNOWN)
      return true
    }
    case OP.MLOAD:
      stack.push(load(state, pop()))
      return true
    case OP.MSTORE: {
      const place = pop()
      store(state, place, 32, pop())
      return true
    }
    case OP.KECCAK256: {
      const key = load(state, pop())
      pop()
      stack.push(typeof key === 'object' && (key.kind === 'left' || key.kind === 'word') ? KEYED : UNKNOWN)
      return true
    }
    case OP.CALLDATACOPY: {
      const place = pop()
      const source = pop()
      const size = pop()
      store(
        state,
        place,
        typeof size === 'bigint' ? Number(size) : Number.MAX_SAFE_INTEGER,
        source === 0n ? WORD : UNKNOWN,
      )
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
      stack.push(UNKNOWN)
      state.called = true
      return true
    }
    case OP.DELEGATECALL: {
      const [, to, input, size] = [pop(), pop(), pop(), pop(), pop(), pop()]
      stack.push(UNKNOWN)
      state.called = true
      if (typeof size !== 'object' || size.kind !== 'size' || size.more < 0n) return true
      if (typeof input === 'bigint' && load(state, input) !== WORD) return true
      watch.delegates?.(to!)
      return false
    }
  }
  if (opcode >= OP.LOG1 && opcode <= OP.LOG4) watch.logs?.(stack.at(-3) ?? UNKNOWN)
  const arity = ARITY[opcode]!
  for (let taken = arity >> 4; taken > 0; taken--) stack.pop()
  for (let given = arity & 15; given > 0; given--) stack.push(UNKNOWN)
  return true
}

const isZero = (a: Value): Value => {
  if (typeof a === 'bigint') return a === 0n ? 1n : 0n
  switch (a.kind) {
    case 'equal':
      return { kind: 'differs', selectors: a.selectors }
    case 'differs':
      return { kind: 'equal', selectors: a.selectors }
    case 'selector':
      return { kind: 'equal', selectors: [0] }
    default:
      return UNKNOWN
  }
}

/** Into how many the selector, or a hash of it, is divided here: zero where it is not. */
const bucketsOf = (opcode: number, a: Value, b: Value): number => {
  const [hash, size] = typeof a === 'object' ? [a, b] : [b, a]
  if (typeof size !== 'bigint' || typeof hash !== 'object' || (hash.kind !== 'selector' && hash.kind !== 'mixed'))
    return 0
  if (opcode === OP.MOD) return hash === a && size <= MAX_BUCKETS ? Number(size) : 0
  return size < MAX_BUCKETS && (size & (size + 1n)) === 0n ? Number(size) + 1 : 0
}

const and = (a: Value, b: Value): Value => {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a & b
  const [it, mask] = typeof b === 'bigint' ? [a, b] : [b, a]
  if (typeof it !== 'object' || typeof mask !== 'bigint') return compound(a, b)
  switch (it.kind) {
    case 'word':
    case 'left':
      return mask === MASK_32 << SHIFT ? LEFT : mask === MASK_256 ? it : UNKNOWN
    case 'selector':
      return (mask & MASK_32) === MASK_32 ? SELECTOR : MIXED
    case 'mixed':
      return MIXED
    case 'equal':
      return mask & 1n ? it : 0n
    default:
      return compound(a, b)
  }
}

/** What comes of a word of known origin and a number, as where an address is cut out of a slot, stays with its origin. */
const compound = (a: Value, b: Value): Value => {
  if (typeof a === 'object' && typeof b === 'object') {
    const [one, other] = isCondition(a) ? [a, b] : [b, a]
    if (!isCondition(one)) return UNKNOWN
    return isCondition(other) ? { kind: one.kind, selectors: [...one.selectors, ...other.selectors] } : one
  }
  const it = typeof a === 'object' ? a : b
  return typeof it === 'object' && (it.kind === 'stored' || it.kind === 'returned') ? it : UNKNOWN
}

type Condition = Extract<Value, { kind: 'equal' | 'differs' }>

const isCondition = (value: Value): value is Condition =>
  typeof value === 'object' && (value.kind === 'equal' || value.kind === 'differs')

const arithmetic = (opcode: number, a: Value, b: Value): Value => {
  if (typeof a === 'bigint' && typeof b === 'bigint') return compute(opcode, a, b)
  switch (opcode) {
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
      const [it, number] = typeof b === 'bigint' ? [a, b] : [b, a]
      if (typeof it === 'object' && it.kind === 'size' && typeof number === 'bigint')
        return { kind: 'size', more: it.more + number }
      return compound(a, b)
    }
    case OP.SHR:
      if (typeof b !== 'object' || typeof a !== 'bigint') return UNKNOWN
      if (b.kind === 'word' || b.kind === 'left') return a === SHIFT ? SELECTOR : UNKNOWN
      return b.kind === 'selector' || b.kind === 'mixed' ? MIXED : compound(a, b)
    case OP.SHL:
      if (typeof b !== 'object' || typeof a !== 'bigint') return UNKNOWN
      if (b.kind === 'selector') return a === SHIFT ? LEFT : MIXED
      return b.kind === 'mixed' ? MIXED : compound(a, b)
    case OP.DIV:
      if (typeof a !== 'object' || typeof b !== 'bigint') return UNKNOWN
      if (a.kind === 'word' || a.kind === 'left') return b === 1n << SHIFT ? SELECTOR : UNKNOWN
      return compound(a, b)
    case OP.MUL: {
      const [it, number] = typeof b === 'bigint' ? [a, b] : [b, a]
      if (typeof it === 'object' && (it.kind === 'selector' || it.kind === 'mixed') && typeof number === 'bigint')
        return it.kind === 'selector' && number === 1n << SHIFT ? LEFT : MIXED
      return compound(a, b)
    }
    case OP.OR:
      return compound(a, b)
    default:
      return UNKNOWN
  }
}

const negative = (a: Value): Value => (typeof a === 'bigint' ? BigInt.asUintN(256, -a) : a)

/** The selector that the call's is compared with, null where it is not. */
const comparedWith = (a: Value, b: Value): number | null => {
  const [it, number] = typeof b === 'bigint' ? [a, b] : [b, a]
  if (typeof it !== 'object' || typeof number !== 'bigint') return null
  if (it.kind === 'selector') return number <= MASK_32 ? Number(number) : null
  if (it.kind !== 'left' && it.kind !== 'word') return null
  return (number & ((1n << SHIFT) - 1n)) === 0n ? Number(number >> SHIFT) : null
}

const compute = (opcode: number, a: bigint, b: bigint): bigint => {
  switch (opcode) {
    case OP.ADD:
      return (a + b) & MASK_256
    case OP.MUL:
      return (a * b) & MASK_256
    case OP.SUB:
      return (a - b) & MASK_256
    case OP.DIV:
      return b === 0n ? 0n : a / b
    case OP.MOD:
      return b === 0n ? 0n : a % b
    case OP.EXP:
      return power(a, b)
    case OP.LT:
      return a < b ? 1n : 0n
    case OP.GT:
      return a > b ? 1n : 0n
    case OP.EQ:
      return a === b ? 1n : 0n
    case OP.OR:
      return a | b
    case OP.XOR:
      return a ^ b
    case OP.SHL:
      return a > 255n ? 0n : (b << a) & MASK_256
    default:
      return a > 255n ? 0n : b >> a
  }
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
