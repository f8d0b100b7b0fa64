import type { Reader } from '../../../src/engine/reader.ts'
import { blockOf } from '../../../src/engine/schema.ts'
import type { Db } from '../../../src/sqlite/database.ts'
import { createRandom } from '../random.ts'
import type { Layout } from './chunks.ts'
import { compare, type Figure } from './measure.ts'
import { createPacked } from './packed.ts'
import { openSource } from './source.ts'
import { createToday, type Shown } from './today.ts'

/** Positions of documents of each kind, in chain order. */
export type Positions = Record<Shown, number[]>

export const positionsIn = (db: Db): Positions => {
  const all = (sql: string) => db.prepare(sql).pluck().all() as number[]
  return {
    tx: all('SELECT pos FROM tx ORDER BY pos'),
    log: all('SELECT pos FROM log ORDER BY pos'),
    event: all('SELECT pos FROM log WHERE signature IN (SELECT id FROM signature WHERE abi IS NOT NULL) ORDER BY pos'),
  }
}

/** A question: pages of positions, which are answered one after another. */
interface Question {
  name: string
  kind: Shown
  pages: number[][]
  /** Of one answer, which the figures are of: a page, or a hit. */
  unit: 'answer' | 'hit'
}

const PAGE = 500
const ANSWERS = 500

const questionsOn = (positions: Positions, seed: number): Question[] => {
  const random = createRandom()
  random.seek(seed, 1, 2, 3)
  const some = (kind: Shown, count: number) => {
    const all = positions[kind]
    return Array.from({ length: count }, () => all[random.below(all.length)]!)
  }
  const scattered = (kind: Shown): Question => ({
    name: `ten ${kind === 'tx' ? 'transactions' : `${kind}s`} anywhere`,
    kind,
    unit: 'answer',
    pages: Array.from({ length: ANSWERS }, () => some(kind, 10)),
  })
  const neighbours = (kind: Shown, size: number, answers: number): number[][] =>
    Array.from({ length: answers }, () => {
      const from = random.below(positions[kind].length - size)
      return positions[kind].slice(from, from + size)
    })
  const ofBlock = Array.from({ length: 50 }, () => {
    const number = blockOf(some('tx', 1)[0]!)
    return positions.tx.filter(position => blockOf(position) === number)
  })
  const newest = positions.event.toReversed()
  return [
    scattered('tx'),
    scattered('log'),
    scattered('event'),
    { name: 'ten neighbouring transactions', kind: 'tx', unit: 'answer', pages: neighbours('tx', 10, ANSWERS) },
    { name: 'ten neighbouring events', kind: 'event', unit: 'answer', pages: neighbours('event', 10, ANSWERS) },
    { name: 'all transactions of a block', kind: 'tx', unit: 'answer', pages: ofBlock },
    {
      name: '1,000 events anywhere',
      kind: 'event',
      unit: 'answer',
      pages: Array.from({ length: 5 }, () => some('event', 1000).sort((a, b) => b - a)),
    },
    {
      name: 'every event (`size: -1`), a hit',
      kind: 'event',
      unit: 'hit',
      pages: Array.from({ length: Math.ceil(newest.length / PAGE) }, (_, i) => newest.slice(i * PAGE, (i + 1) * PAGE)),
    },
  ]
}

export interface HitFigures {
  question: string
  figures: Map<string, Figure>
}

export interface HitOptions {
  reader: Reader
  positions: Positions
  stores: readonly { layout: Layout; path: string }[]
  rounds: number
  seed: number
  /** Only as many of the questions. */
  most?: number
}

/** Time from positions to the JSON bytes of the hits, without the search that finds them. */
export const measureHits = ({ reader, positions, stores, rounds, seed, most }: HitOptions): HitFigures[] => {
  const today = createToday(reader)
  const others = stores.map(({ layout, path }) => {
    const source = openSource(path, layout, reader)
    return { name: layout.name, source, packed: createPacked(source) }
  })
  const contestants = [
    { name: 'rows', page: today.page, forget: () => {} },
    ...others.map(({ name, source, packed }) => ({ name, page: packed.page, forget: source.forget })),
  ]
  checkEqual(contestants, positions, seed)
  const questions = questionsOn(positions, seed).slice(0, most)
  const result = questions.map(({ name, kind, pages, unit }) => ({
    question: name,
    figures: compare(
      contestants.map(({ name, page, forget }) => ({
        name,
        run() {
          forget()
          let hits = 0
          for (const positions of pages) {
            page(kind, positions)
            hits += positions.length
          }
          return unit === 'hit' ? hits : pages.length
        },
      })),
      unit === 'hit' ? 1 : rounds,
      1,
    ),
  }))
  for (const { source } of others) source.close()
  return result
}

const CHECKED = 3000

/** Every contestant must write the same bytes. */
const checkEqual = (
  [first, ...others]: readonly { name: string; page(kind: Shown, positions: readonly number[]): Buffer }[],
  positions: Positions,
  seed: number,
) => {
  const random = createRandom()
  random.seek(seed, 4, 5, 6)
  for (const [kind, all] of Object.entries(positions) as [Shown, number[]][])
    for (let i = 0; i < CHECKED; i++) {
      const one = [all[random.below(all.length)]!]
      const expected = Buffer.from(first!.page(kind, one))
      for (const { name, page } of others)
        if (!expected.equals(page(kind, one)))
          throw new Error(`${name} shows ${kind} ${one[0]} otherwise than rows:\n${expected}\n${page(kind, one)}`)
    }
}
