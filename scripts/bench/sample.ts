import type { Random } from '../lib/random.ts'

export type Ask = (entities: string, body?: object) => Answer

export interface Answer {
  hits: { total: number; hits: { _id: string; _parent: string | null; _source: Record<string, unknown> }[] }
}

export const VALUES = 40
/** Blocks whose documents the values are drawn from. */
const BLOCKS = 48

export interface Sample {
  first: number
  last: number
  blocks: { number: number; hash: string }[]
  txs: string[]
  parents: string[]
  /** How often something was seen; several parts are joined by a bar. */
  parties: Map<string, number>
  emitters: Map<string, number>
  names: Map<string, number>
  pairs: Map<string, number>
  args: Map<string, number>
  /** Values of arguments called `value` that fit a long, ascending. */
  numbers: number[]
  gas: number[]
}

export const takeSample = (ask: Ask, random: Random): Sample => {
  const end = (order: string): number => {
    const { hits } = ask('block', { sort: { 'number.num': order }, size: 1 }).hits
    if (hits.length === 0) throw new Error('the store holds no block')
    return (hits[0]!._source.number as { num: number }).num
  }
  const [first, last] = [end('asc'), end('desc')]
  const sample: Sample = {
    first,
    last,
    blocks: [],
    txs: [],
    parents: [],
    parties: new Map(),
    emitters: new Map(),
    names: new Map(),
    pairs: new Map(),
    args: new Map(),
    numbers: [],
    gas: [],
  }
  for (let i = 0; i < BLOCKS; i++) {
    const number = first + random.below(last - first + 1)
    const { hits } = ask('block', { query: { term: { 'number.num': number } } }).hits
    if (hits.length === 0) continue
    sample.blocks.push({ number, hash: hits[0]!._id })
    addDocuments(sample, ask, number)
  }
  for (const list of [sample.numbers, sample.gas]) list.sort((a, b) => a - b)
  if (sample.names.size === 0 || sample.parties.size === 0)
    throw new Error('the store has no events or no transactions: fill it with more blocks')
  return sample
}

const addDocuments = (sample: Sample, ask: Ask, number: number) => {
  const here = { query: { term: { 'blockNumber.num': number } }, size: 10_000 }
  const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const { _id, _source } of ask('tx', here).hits.hits) {
    const { from, to, gasUsed } = _source as { from: string; to?: string | null; gasUsed: { num: number } }
    sample.txs.push(_id)
    sample.gas.push(gasUsed.num)
    add(sample.parties, from)
    if (to) add(sample.parties, to)
  }
  for (const { _parent, _source } of ask('event', here).hits.hits) {
    const { event, address, args } = _source as { event: string; address: string; args: Argument[] }
    sample.parents.push(_parent!)
    add(sample.emitters, address)
    add(sample.names, event)
    add(sample.pairs, join(event, address))
    for (const { name, value } of args ?? []) {
      if (value.type === 'address') add(sample.args, join(name, value.hex, event))
      if (name === 'value' && value.num !== null) sample.numbers.push(notAbove(value.num))
    }
  }
}

interface Argument {
  name: string
  value: { hex: string; num: number | null; type: string }
}

/** JSON.parse rounds what is beyond 2^53; rounded up it might be beyond every value that is stored. */
const notAbove = (number: number): number =>
  Number.isSafeInteger(number) ? number : Math.floor(number / 2 ** 20) * 2 ** 20

const BAR = ' | '
const join = (...parts: string[]) => parts.join(BAR)
export const split = (key: string) => key.split(BAR) as [string, string, string]

export const some = <T>(values: readonly T[], random: Random): T[] =>
  Array.from({ length: VALUES }, () => values[random.below(values.length)]!)

/** Half of them the most frequent ones, half of them seen once or twice. */
export const spread = (counts: ReadonlyMap<string, number>, random: Random): string[] => {
  const sorted = [...counts].sort(([, a], [, b]) => b - a).map(([key]) => key)
  const hot = sorted.slice(0, VALUES / 2)
  const rare = sorted.slice(Math.floor(sorted.length / 2))
  return [...hot, ...Array.from({ length: VALUES / 2 }, () => rare[random.below(rare.length)]!)]
}

export const quantile = (sorted: readonly number[], share: number) => sorted[Math.floor(share * (sorted.length - 1))]!
export const few = (numbers: readonly number[]) => [0.99, 0.995, 0.999].map(share => quantile(numbers, share))
export const many = (numbers: readonly number[]) => [0.1, 0.3, 0.5].map(share => quantile(numbers, share))
