import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { RawBlock } from '../../../src/chain/wire.ts'
import { decodeColumn, encodeColumn, MISSING } from '../../../src/engine/index/column-codec.ts'
import { scan } from '../../../src/engine/query/match/column-scan.ts'
import { eachOrdinal, listed, type OrdinalSet, run, toArray } from '../../../src/engine/query/match/ordinal-set.ts'
import { DOUBT, NO, YES } from '../../../src/engine/query/plan/column-conditions.ts'
import { createSearcher } from '../../../src/engine/query/searcher.ts'
import { lookup } from '../../../src/mapping/index.ts'
import { compareValues, type Node, type QueryValue } from '../../../src/query/ast.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { compilePredicate, indexedValuesOf, type TestedDocument } from '../../../src/query/predicate.ts'
import { inNode, rangeNode } from '../../../src/query/simplify.ts'
import { createTestStore, generatedBlocks, type TestStore } from '../../support/store.ts'

const check = () => {}

describe('a scan of a column', () => {
  it('finds the candidates whose value fulfils a condition, and which are in doubt', () => {
    const values = fc.array(fc.constantFrom(MISSING, 0, 1, 5, 255, 256, 70_000, 2 ** 33, 2 ** 60), {
      minLength: 1,
      maxLength: 80,
    })
    const bound = fc.constantFrom(0, 1, 2, 255, 256, 69_999, 70_000, 2 ** 33, 2 ** 60, Number.POSITIVE_INFINITY)
    const judges = [undefined, (value: number) => (value % 2 ? YES : value === 256 ? DOUBT : NO)] as const
    fc.assert(
      fc.property(
        ...([
          values,
          bound,
          bound,
          fc.constantFrom(...judges),
          fc.boolean(),
          fc.constantFrom('run', 'list', 'bits'),
          fc.nat(7),
          fc.boolean(),
        ] as const),
        (some, a, b, judge, edges, form, skip, long) => {
          const all = Float64Array.from(long ? Array.from({ length: 40 }, () => some).flat() : some)
          const encoded = encodeColumn(all, { full: false })
          if (!encoded) return
          const data = decodeColumn(encoded.data, 'a column')
          const [low, high] = [Math.min(a, b), Math.max(a, b)]
          const candidates = Array.from(all.keys()).filter(ordinal =>
            form === 'run' ? ordinal >= skip : ordinal % (skip + 1) === 0,
          )
          const within = setAs(form, candidates, all.length)
          const verdict = (value: number) => {
            if (value < low || value > high || value === MISSING) return NO
            if (!judge || (edges && (value < 2 ** 53 || (value !== low && value !== high)))) return YES
            return judge(value)
          }
          const { found, doubtful } = scan(
            data,
            { low, high, ...(judge && { judge: edges ? verdict : judge, ...(edges && { edges }) }) },
            within,
            check,
          )
          assert.deepEqual(
            [...toArray(found)],
            candidates.filter(ordinal => verdict(all[ordinal]!) === YES),
          )
          assert.deepEqual(
            [...toArray(doubtful)],
            candidates.filter(ordinal => verdict(all[ordinal]!) === DOUBT),
          )
        },
      ),
      { numRuns: 2000, seed: 2 },
    )
  })

  it('finds nothing between two neighbours, and all of 32 bits', () => {
    const all = Float64Array.from({ length: 2000 }, (_, i) => (i % 2 === 0 ? i : 2 ** 32 - 1 - i))
    const data = decodeColumn(encodeColumn(all, { full: false })!.data, '')
    const among = (low: number, high: number) =>
      toArray(scan({ ...data, dictionary: undefined }, { low, high }, run(0, 2000), () => {}).found).length
    const { base } = data
    assert.equal(data.dictionary, undefined)
    assert.deepEqual(
      [among(0.2, 0.8), among(base, 1998), among(2 ** 31 - 1, 2 ** 32), among(1, 2 ** 31 - 1), among(0, Infinity)],
      [0, 1000, 1000, 999, 2000],
    )
  })

  it('asks now and then whether to go on', () => {
    const data = decodeColumn(
      encodeColumn(
        Float64Array.from({ length: 200_000 }, (_, i) => i % 300),
        { full: false },
      )!.data,
      '',
    )
    let asked = 0
    scan(data, { low: 0, high: 5 }, run(0, 200_000), () => void asked++)
    assert.ok(asked >= 10, `${asked}`)
  })
})

const setAs = (form: 'run' | 'list' | 'bits', ordinals: number[], size: number): OrdinalSet => {
  if (form === 'list') return listed(Uint32Array.from(ordinals))
  if (form === 'run') return run(ordinals[0] ?? 0, ordinals.length > 0 ? ordinals.at(-1)! + 1 : 0)
  const bits = new Uint32Array((size + 31) >>> 5)
  eachOrdinal(listed(Uint32Array.from(ordinals)), ordinal => {
    bits[ordinal >>> 5]! |= 1 << (ordinal & 31)
  })
  return { form, bits, count: ordinals.length }
}

/** Integers that doubles do not tell apart, about 2^53, one coin, 2^63 and far beyond, and small ones that many have. */
const NEAR = [2n ** 53n, 10n ** 18n, 2n ** 63n, 2n ** 200n]
  .flatMap(value => [-700n, -129n, -64n, -1n, 0n, 1n, 63n, 130n, 600n].map(more => value + more))
  .concat([0n, 1n, 21_000n, 21_000n])

/** Transactions of which many share their values, and some have none. */
const blocks = (): RawBlock[] =>
  generatedBlocks(9).map((raw, n) => {
    for (const [i, tx] of raw.block.transactions.entries()) {
      const pick = (salt: number) => `0x${NEAR[(n * 31 + i * 7 + salt * 13) % NEAR.length]!.toString(16)}`
      tx.value = pick(1)
      tx.gasPrice = i % 11 === 0 ? null : pick(2)
      raw.receipts[i]!.gasUsed = `0x${((i * i) % 40).toString(16)}`
      tx.maxFeePerBlobGas = pick(3)
    }
    return raw
  })

describe('transactions with integers that doubles do not tell apart', () => {
  let store: TestStore
  let documents: TestedDocument[]
  let positions: number[]
  before(() => {
    store = createTestStore(blocks(), { run: [1, 2, 1] })
    documents = store.all('tx')
    positions = store.positions('tx')
    assert.ok(documents.length > 1000)
  })
  after(() => store.close())

  // One without a column is read from records.
  const FIELDS = [
    'value.num',
    'value.coin',
    'value.padded',
    'value.raw',
    'gasPrice.num',
    'gasPrice.raw',
    'gasUsed.num',
    'maxFeePerBlobGas.num',
  ]

  for (const path of FIELDS)
    it(`are found by ${path}`, () => {
      const field = lookup('tx', path)!
      const all = [...new Set(documents.flatMap(({ _source }) => indexedValuesOf(field, _source)))].sort(compareValues)
      const nodes: Node[] = all.flatMap((value, i) => [
        inNode(field, [value]),
        inNode(
          field,
          all.filter((_, j) => j % (i + 2) === 0),
        ),
        rangeNode(field, { gte: value }),
        rangeNode(field, { gt: value }),
        rangeNode(field, { lt: value }),
        rangeNode(field, { gte: all[i >> 1]!, lte: value }),
      ])
      for (const node of nodes) {
        const holds = compilePredicate('tx', node)
        const expected = positions.filter((_, i) => holds(documents[i]!))
        assert.deepEqual(store.evaluate('tx', node).positions, expected)
      }
    })

  const searched = (body: object): string[] =>
    createSearcher(store.reader)
      .search(parseSearch(JSON.stringify(body), ['tx'], 0), { deadline: Number.POSITIVE_INFINITY })
      .hits.map(({ document }) => document._id)

  /** What counts where coins are the last key: the integer tells more. */
  const finer: Record<string, string> = { 'value.coin': 'value.padded' }

  const naive = (
    sort: readonly (readonly [path: string, order: 'asc' | 'desc', missing: '_first' | '_last'])[],
  ): string[] => {
    const keys = sort.map(([path], i) => lookup('tx', i === sort.length - 1 ? (finer[path] ?? path) : path)!)
    const rows = documents.map(({ _id, _source }, i) => ({
      _id,
      position: positions[i]!,
      values: keys.map((field, i): QueryValue | undefined => {
        const [value] = indexedValuesOf(field, _source)
        const [, order, missing] = sort[i]!
        // A missing value comes where the greatest one does.
        const isSame = value === 2n ** 63n - 1n && field.es === 'long' && (order === 'asc') === (missing === '_last')
        return isSame ? undefined : value
      }),
    }))
    rows.sort((a, b) => {
      for (const [i, [, order, missing]] of sort.entries()) {
        const [x, y] = [a.values[i], b.values[i]]
        if (x === undefined && y === undefined) continue
        if (x === undefined || y === undefined) return (x === undefined) === (missing === '_first') ? -1 : 1
        const difference = compareValues(x, y)
        if (difference !== 0) return order === 'asc' ? difference : -difference
      }
      return (sort[0]![1] === 'desc' ? -1 : 1) * (a.position - b.position)
    })
    return rows.map(({ _id }) => _id)
  }

  for (const path of FIELDS)
    it(`are sorted by ${path}, alone and with another key, however many are wanted`, () => {
      for (const order of ['asc', 'desc'] as const)
        for (const missing of ['_first', '_last'] as const) {
          const second = path === 'gasUsed.num' ? 'nonce.num' : 'gasUsed.num'
          for (const more of [[], [[second, 'desc', '_last']], [['value.coin', 'asc', '_first']]] as const) {
            const sort = [[path, order, missing], ...more] as const
            if (new Set(sort.map(([path]) => path)).size < sort.length) continue
            const expected = naive(sort)
            for (const [from, size] of [
              [0, 1],
              [0, 10],
              [5, 7],
              [0, 200],
              [300, 900],
            ] as const) {
              const body = { from, size, sort: sort.map(([path, order, missing]) => ({ [path]: { order, missing } })) }
              assert.deepEqual(searched(body), expected.slice(from, from + size), JSON.stringify(body))
            }
          }
        }
    })
})
