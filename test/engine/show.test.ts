import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseSignature } from '../../src/decode/signature.ts'
import type { Document } from '../../src/documents/document.ts'
import * as show from '../../src/documents/show.ts'
import { writeAmount, writeQuantity, writeWide } from '../../src/engine/forms/numbers.ts'
import { createDocuments, type Documents } from '../../src/engine/query/documents.ts'
import { createEvaluator } from '../../src/engine/query/match/evaluate.ts'
import { createHits } from '../../src/engine/show/hits.ts'
import { planSource } from '../../src/engine/show/plan.ts'
import { compileArguments, planArguments } from '../../src/engine/show/static-arguments.ts'
import { createByteWriter } from '../../src/lib/bytes.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { fieldsOf, KINDS, type Kind, queryPaths } from '../../src/mapping/index.ts'
import { compileSourceFilter } from '../../src/query/hits/source-filter.ts'
import type { SearchRequest, SourceFilter } from '../../src/query/request.ts'
import { oddBlocks, oddEvents } from '../support/odd.ts'
import { fullBlock } from '../support/rich.ts'
import { amount, wide } from '../support/shown.ts'
import {
  createTestStore,
  demoBlocks,
  demoEvents,
  excerptOf,
  generatedBlocks,
  type TestStore,
} from '../support/store.ts'

// Hits are written from bytes; the same documents as objects, filtered and turned into JSON by the runtime, say what is due.

const SEED = Number(process.env.SEED ?? 5)
const FILTERS = Number(process.env.CASES ?? 60)
/** Documents of a kind that each filter is tried on. */
const SOME = 40
const INDEX = 'ethereum-made-up-mainnet'

const due = (kind: Kind, { _id, _routing, _parent, _source }: Document, filter: SourceFilter): string =>
  JSON.stringify({
    ...{ _index: `${INDEX}-${kind}`, _type: kind, _id, _score: 1, _routing, _parent },
    _source: compileSourceFilter(filter)(_source),
  })

const optionsOf = ({ reader, documents: exact }: TestStore, shown: Documents) => ({
  ...{ reader, shown, exact, limits: DEFAULT_LIMITS },
  evaluation: createEvaluator(reader, exact),
})

const requestFor = (kind: Kind, source: SourceFilter): SearchRequest =>
  ({ parts: [{ kind }], sort: [], source }) as unknown as SearchRequest

/** Names as they stand in `_source`, below and above fields, with stars, and such as are none. */
const patternFor = (kind: Kind): fc.Arbitrary<string> => {
  const paths = fieldsOf(kind).map(({ path }) => path)
  const names = [...new Set([...paths, ...queryPaths(kind).keys(), ...paths.flatMap(path => path.split('.')[0]!)])]
  const name = fc.constantFrom(...names)
  return fc.oneof(
    { weight: 4, arbitrary: name },
    name.map(path => path.replace(/[^.]+$/, '*')),
    fc.tuple(name, fc.nat(12)).map(([path, at]) => `${path.slice(0, at)}*`),
    fc.tuple(name, fc.nat(12)).map(([path, at]) => `*${path.slice(at)}`),
    fc.constantFrom(
      '*',
      '*.num',
      '*.raw',
      '*.hex',
      'a*',
      '*s',
      '',
      '.',
      'constructor',
      'args.value.*',
      'action',
      'result',
    ),
  )
}

const filterFor = (kind: Kind): fc.Arbitrary<SourceFilter> => {
  const patterns = fc.array(patternFor(kind), { maxLength: 4 })
  return fc.oneof(
    { weight: 1, arbitrary: fc.boolean() },
    { weight: 8, arbitrary: fc.record({ includes: patterns, excludes: patterns }) },
    { weight: 4, arbitrary: patterns.map(includes => ({ includes, excludes: [] })) },
    { weight: 4, arbitrary: patterns.map(excludes => ({ includes: [], excludes })) },
  )
}

const STORES: Record<string, () => TestStore> = {
  'what is rare': () => {
    const blocks = [fullBlock(), ...oddBlocks(24, 100)].map((raw, i) =>
      i % 7 === 3 ? excerptOf(raw, index => index % 2 === 1) : raw,
    )
    return createTestStore(blocks, { events: oddEvents, run: [1, 3, 2] })
  },
  'calls without their traces': () =>
    createTestStore(
      oddBlocks(12).map(({ traces: _, ...raw }) => raw),
      { events: oddEvents },
    ),
  'the demo chain': () => createTestStore(demoBlocks().slice(0, 120), { events: demoEvents() }),
  'mainnet’s shape': () => createTestStore(generatedBlocks(4)),
}

describe('hits as JSON', () => {
  for (const [content, open] of Object.entries(STORES))
    it(`are those of the documents, of ${content}`, () => {
      const store = open()
      const { reader } = store
      const shown = createDocuments(store.reader, show.asJson)
      const hits = createHits(optionsOf(store, shown))
      const out = createByteWriter()
      for (const kind of KINDS) {
        const positions = store.positions(kind)
        reader.begin()
        try {
          const documents = positions.map(position => shown.load(kind, [position])[0]!)
          const check = (filter: SourceFilter, places: readonly number[]) => {
            out.clear()
            const found = places.map(place => ({ kind, position: positions[place]!, keys: [] }))
            assert.equal(hits.writer(requestFor(kind, filter), INDEX)(found, out), found.length)
            assert.equal(
              out.view().toString(),
              places.map(place => due(kind, documents[place]!, filter)).join(','),
              JSON.stringify(filter),
            )
          }
          const all = [...positions.keys()]
          check(true, all)
          check(false, all)
          if (all.length === 0) continue
          const places = fc.array(fc.constantFrom(...all), { minLength: 1, maxLength: SOME })
          fc.assert(fc.property(filterFor(kind), places, check), { numRuns: FILTERS, seed: SEED })
          for (const [place, { _id, _source }] of documents.slice(-SOME).entries()) {
            out.clear()
            const position = positions.at(place - Math.min(SOME, positions.length))!
            assert.ok(hits.document(kind, position, INDEX, out))
            const envelope = { _index: `${INDEX}-${kind}`, _type: kind, _id, found: true, _source }
            assert.equal(out.view().toString(), JSON.stringify(envelope))
          }
        } finally {
          reader.end()
        }
      }
      store.close()
    })

  it('leave out what is not stored', () => {
    const store = createTestStore(oddBlocks(3), { events: oddEvents })
    const hits = createHits(optionsOf(store, store.documents))
    const out = createByteWriter()
    for (const kind of KINDS) {
      const [first] = store.positions(kind)
      const before = first! - 2 ** 22 * 50
      const beyond = Math.floor(first! / 2 ** 22) * 2 ** 22 + 2 ** 21
      store.read(() => {
        const found = [before, first!, beyond].map(position => ({ kind, position, keys: [] }))
        for (const source of [true, false]) {
          out.clear()
          const blocks = kind === 'block' ? 1 : 0
          // A block is found by any place in it.
          assert.equal(hits.writer(requestFor(kind, source), INDEX)(found, out), 1 + blocks, kind)
          assert.equal(JSON.parse(`[${out.view()}]`).length, 1 + blocks)
        }
        assert.equal(hits.document(kind, before, INDEX, out), false)
      })
    }
    store.close()
  })
})

const integer = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.bigInt({ min: 0n, max: 2n ** 100n }),
  fc.bigInt({ min: 0n, max: 2n ** 64n }),
  fc.bigInt({ min: 0n, max: 2n ** 54n }),
  fc.nat().map(BigInt),
  fc.tuple(fc.nat(), fc.nat(30)).map(([value, zeros]) => BigInt(value) * 10n ** BigInt(zeros)),
  fc.tuple(fc.nat(100), fc.nat(255)).map(([value, bits]) => 2n ** BigInt(bits) + BigInt(value - 50 < 0 ? 0 : value)),
)
const bytesOf = (value: bigint): Buffer => {
  const digits = value === 0n ? '' : value.toString(16)
  return Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
}

/** All but `eth`, which only some requests ask for. */
const MEMBERS = 15

it('integers are written from bytes as they are shown', () => {
  const out = createByteWriter(16)
  const written = (write: typeof writeQuantity, bytes: Buffer, members = MEMBERS) => {
    out.clear()
    out.byte(0)
    write(out, Buffer.concat([Buffer.from([9]), bytes, Buffer.from([9])]), 1, 1 + bytes.length, members)
    return out.view(1).toString()
  }
  const part = (shown: object, members: number) =>
    JSON.stringify(Object.fromEntries(Object.entries(shown).filter((_, i) => members & (1 << i))))
  fc.assert(
    fc.property(integer, fc.nat(15), (value, members) => {
      const exact = value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
      const bytes = bytesOf(value)
      assert.equal(written(writeQuantity, bytes), JSON.stringify(show.formatQuantity(exact, show.asJson)))
      assert.equal(written(writeWide, bytes), JSON.stringify(wide(exact)))
      assert.equal(written(writeAmount, bytes), JSON.stringify(amount(exact, show.asJson)))
      assert.equal(written(writeAmount, bytes, members), part(amount(exact, show.asJson), members))
    }),
    { numRuns: 3000, seed: SEED },
  )
})

it('small integers are divided by powers of ten as their digits are read', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.nat(30), (value, decimals) => {
      assert.equal(show.scaled(value, decimals), Number(`${value}e-${decimals}`))
    }),
    { numRuns: 5000, seed: SEED },
  )
})

it('arguments of one word each need no decoding, others do', () => {
  const isPlain = (text: string): boolean => {
    const { name, inputs } = parseSignature(text)
    return compileArguments(name, inputs) !== undefined
  }
  assert.ok(isPlain('A(address indexed a, uint8 b, bool, bytes3, int256 c, function indexed f, string indexed d)'))
  assert.ok(isPlain('A()'))
  for (const dynamic of [
    'string',
    'bytes',
    'uint8[]',
    'uint8[2]',
    '(uint8 a)',
    'uint8[] indexed a',
    '(uint8 b) indexed a',
  ])
    assert.ok(!isPlain(`A(uint8 a, ${dynamic})`), dynamic)
  assert.ok(!isPlain(`A(${Array.from({ length: 11 }, (_, i) => `uint8 a${i}`)})`))
  assert.ok(!isPlain(`A(uint8 ${'a'.repeat(950)})`))
})

it('what a filter leaves of arguments is known before there are any', () => {
  const shown = (includes: string[], excludes: string[] = []) => {
    const plan = planSource('event', { includes, excludes })!.field('args')
    return plan && planArguments(plan)
  }
  const none = { hex: false, num: false, scaled: false, type: false }
  assert.equal(shown([]), 'whole')
  assert.equal(shown(['args'], ['str']), 'whole')
  assert.equal(shown(['args'], ['args.*']), 'empty')
  assert.equal(shown(['str']), undefined)
  assert.deepEqual(shown(['args.name']), { name: true, pos: false, value: undefined })
  assert.deepEqual(shown(['args'], ['args.value.*']), { name: true, pos: true, value: none })
  assert.deepEqual(shown(['*.hex']), { name: false, pos: false, value: { ...none, hex: true } })
})
