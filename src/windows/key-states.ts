import type { Exact } from '../query/ast.ts'
import { compareExact } from '../query/exact.ts'
import { type EntryPart, MAX_NAMED, type WindowEntry } from './entries.ts'
import type { WindowMeasure } from './spec.ts'
import { addExact, type ExactSum, subtractExact } from './sums.ts'
import type { WindowBlock, WindowLimits } from './window.ts'

export type PartState =
  | { kind: 'sum'; sum: ExactSum; signed: number }
  /** Values that may become the bound, the bound first. */
  | { kind: 'least' | 'greatest'; queue: { block: number; value: Exact }[] }
  | { kind: 'distinct'; texts: Map<string, number> }

export interface KeyState {
  count: number
  entries: number
  parts: PartState[]
}

/**
 * What lies in the windows of a rule at a block: rows in the order of their blocks, and what they make of
 * each key. `isOut`: whether a block is no longer in the window at another one.
 */
export const createKeyStates = (
  measures: readonly WindowMeasure[],
  limits: WindowLimits,
  isOut: (block: WindowBlock, now: WindowBlock) => boolean,
) => {
  const keys = new Map<string, KeyState>()
  let blocks: { block: WindowBlock; entries: readonly WindowEntry[] }[] = []
  let head = 0
  let rows = 0

  const stateOf = (key: string, mayRefuse: boolean): KeyState | undefined => {
    const known = keys.get(key)
    if (known || (mayRefuse && (keys.size >= limits.keys || rows >= limits.rows))) return known
    const fresh: KeyState = { count: 0, entries: 0, parts: measures.map(emptyState) }
    keys.set(key, fresh)
    return fresh
  }

  return {
    keys: keys as ReadonlyMap<string, KeyState>,
    get size() {
      return { keys: keys.size, rows }
    },
    /** The first block with a row. */
    oldest: (): number | undefined => blocks[head]?.block.number,
    /** Returns the entries that had room. */
    put(block: WindowBlock, entries: readonly WindowEntry[], mayRefuse: boolean): WindowEntry[] {
      const taken: WindowEntry[] = []
      for (const entry of entries) {
        const state = stateOf(entry.key, mayRefuse)
        if (state === undefined) continue
        rows++
        state.count += entry.count
        state.entries++
        for (let i = 0; i < measures.length; i++) addPart(state.parts[i]!, entry.parts[i]!, block.number)
        taken.push(entry)
      }
      if (taken.length > 0) blocks.push({ block, entries: taken })
      return taken
    },
    /** Removes rows that are out of the window, and adds their keys to `touched`. */
    leave(now: WindowBlock, touched: Set<string>) {
      for (; head < blocks.length && isOut(blocks[head]!.block, now); head++) {
        const { block, entries } = blocks[head]!
        rows -= entries.length
        for (const entry of entries) {
          touched.add(entry.key)
          const state = keys.get(entry.key)!
          state.count -= entry.count
          state.entries--
          for (let i = 0; i < measures.length; i++) removePart(state.parts[i]!, entry.parts[i]!, block.number)
        }
      }
      if (head > 1_000 && head * 2 > blocks.length) {
        blocks = blocks.slice(head)
        head = 0
      }
    },
    /** Forgets a key of which no row is left. */
    dropEmpty(key: string) {
      if (keys.get(key)?.entries === 0) keys.delete(key)
    },

    /** The first matches of keys, and the block of the first: one look at all rows. */
    named(wanted: Iterable<string>): Map<string, { ids: string[]; from: number | undefined }> {
      const found = new Map(
        [...wanted].map(key => [key, { ids: [] as string[], from: undefined as number | undefined }]),
      )
      if (found.size === 0) return found
      for (let i = head; i < blocks.length; i++) {
        const { block, entries } = blocks[i]!
        for (const { key, ids } of entries) {
          const one = found.get(key)
          if (one === undefined) continue
          one.from ??= block.number
          if (one.ids.length < MAX_NAMED) one.ids.push(...ids.slice(0, MAX_NAMED - one.ids.length))
        }
      }
      return found
    },
  }
}

const emptyState = ({ kind }: WindowMeasure): PartState =>
  kind === 'sum'
    ? { kind, sum: { digits: 0n, scale: 0, values: 0 }, signed: 0 }
    : kind === 'distinct'
      ? { kind, texts: new Map() }
      : { kind, queue: [] }

/** The state of a key without matches. */
export const emptyKeyState = (measures: readonly WindowMeasure[]): KeyState => ({
  count: 0,
  entries: 0,
  parts: measures.map(emptyState),
})

const exactIn = (part: readonly (string | number)[]): Exact => ({ digits: BigInt(part[0]!), scale: Number(part[1]) })

const addPart = (state: PartState, part: EntryPart, block: number) => {
  if (part === null) return
  if (state.kind === 'distinct') {
    for (const text of (part as { of: string[] }).of) state.texts.set(text, (state.texts.get(text) ?? 0) + 1)
    return
  }
  const value = exactIn(part as [string, number])
  if (state.kind === 'sum') {
    addExact(state.sum, value)
    state.sum.values += Number((part as unknown[])[2])
    state.signed += Number((part as unknown[])[3])
    return
  }
  const sign = state.kind === 'least' ? -1 : 1
  while (state.queue.length > 0 && compareExact(value, state.queue.at(-1)!.value) * sign >= 0) state.queue.pop()
  state.queue.push({ block, value })
}

const removePart = (state: PartState, part: EntryPart, block: number) => {
  if (part === null) return
  if (state.kind === 'distinct')
    for (const text of (part as { of: string[] }).of) {
      const left = state.texts.get(text)! - 1
      if (left === 0) state.texts.delete(text)
      else state.texts.set(text, left)
    }
  else if (state.kind === 'sum') {
    subtractExact(state.sum, exactIn(part as [string, number]))
    state.sum.values -= Number((part as unknown[])[2])
    state.signed -= Number((part as unknown[])[3])
  } else if (state.queue[0]?.block === block) state.queue.shift()
}
