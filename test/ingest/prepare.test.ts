import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import fc from 'fast-check'
import { positionOf } from '../../src/engine/schema.ts'
import { createAddressFilter } from '../../src/ingest/decoding/dictionaries.ts'
import { createPreparer } from '../../src/ingest/decoding/prepare.ts'
import { keccakHex } from '../../src/lib/keccak.ts'
import { assertSame, contentsOf, documentsOf, events, neighbours, queriesOn, using } from '../support/contents.ts'
import { oddBlocks } from '../support/odd.ts'
import { hasMainnet } from '../support/pack.ts'
import { createTestStore, decodeCall, excerptOf, generatedBlocks, mainnetBlocks } from '../support/store.ts'

test('logs, calls and methods are decoded as of where they stand: what a log changes holds for what comes behind it', t => {
  const store = createTestStore()
  t.after(() => store.close())
  const seen: Record<'logs' | 'calls' | 'methods', Set<string>> = {
    logs: new Set(),
    calls: new Set(),
    methods: new Set(),
  }
  const preparer = createPreparer({
    db: store.db,
    decoding: () => ({
      log(log, at) {
        seen.logs.add(`${at} ${log.address} ${log.topics} ${log.data}`)
        return {
          signature: { of: 'log', key: 'x', topic: null, indexed: 0, event: null, probability: 0, error: null },
          args: null,
        }
      },
      methodOf(input, to, at) {
        seen.methods.add(`${at} ${to} ${input}`)
        return null
      },
      revert: () => null,
      call(to, input, at) {
        seen.calls.add(`${at} ${to} ${input}`)
        return decodeCall(to, input)
      },
    }),
    tokens: {
      of: () => undefined,
      facts: () => ({ name: null, symbol: null, decimals: null, error: null, standard: null }),
      seen: () => undefined,
      sighted: () => {},
      takeLearnt: () => [],
    },
    contracts: { in: () => [], of: () => [], carry: () => {} },
  })
  const due: typeof seen = { logs: new Set(), calls: new Set(), methods: new Set() }
  for (const whole of oddBlocks(20)) {
    const raw = Number(whole.block.number) % 2 ? whole : excerptOf(whole, index => index % 2 === 1)
    const block = Number(raw.block.number)
    // Nothing comes behind some calls.
    if (block % 3 === 0) for (const receipt of raw.receipts.slice(-2)) receipt.logs = []
    const logs = raw.receipts.flatMap(({ logs }) => logs)
    for (const { address, topics, data, logIndex } of logs)
      due.logs.add(`${positionOf(block, Number(logIndex))} ${address} ${topics} ${data}`)
    for (const { to, input, transactionIndex } of raw.block.transactions) {
      const behind = logs.filter(log => Number(log.transactionIndex) >= Number(transactionIndex))
      const at = behind[0] ? positionOf(block, Number(behind[0].logIndex)) : positionOf(block + 1, 0)
      const called = (to: string, input: string) => {
        if (input.length >= 10) due.calls.add(`${at} ${to} ${input}`)
      }
      if (to) due.methods.add(`${at} ${to} ${input}`)
      if (to && !raw.traces) called(to, input)
      for (const trace of raw.traces ?? [])
        if (trace.type === 'call' && trace.transactionPosition === Number(transactionIndex))
          called(trace.action.to, trace.action.input)
    }
    preparer.decode(raw)
  }
  assert.deepEqual(seen, due)
  assert.ok(Object.values(due).every(({ size }) => size > 10))
})

const addresses = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => keccakHex(`address ${from + i}`).slice(-40))
describe('the filter of addresses', () => {
  it('never denies one that is stored or was added, and hardly ever admits another', () => {
    const filter = createAddressFilter(2000, addresses(0, 2000))
    for (const address of addresses(0, 2000)) assert.ok(filter.mayHave(address))
    const others = addresses(10_000, 20_000)
    assert.ok(others.filter(filter.mayHave).length < 20)
    const before = others.map(filter.mayHave)
    assert.deepEqual(others.map(filter.add), before)
    for (const address of others) assert.ok(filter.mayHave(address) && filter.add(address))
  })

  it('tells addresses apart that look alike', () => {
    const alike = Array.from({ length: 5000 }, (_, i) => i.toString(16).padStart(40, '0'))
    const filter = createAddressFilter(0, [])
    const admitted = alike.filter(address => filter.add(address)).length
    assert.ok(admitted < 50, `${admitted}`)
  })
})

describe('a batch that is joined from pieces of several builders', () => {
  it('holds what one builder makes of the blocks', () => {
    const blocks = neighbours(40)
    const builders = { count: 3 }
    const [pieces, whole] = [createTestStore(blocks, { events, builders }), createTestStore(blocks, { events })]
    using([pieces, whole], () => assertSame(pieces, whole, queriesOn(whole, 30)))
  })

  it('does so however little the builders can share, and however blocks are cut', () => {
    const blocks = [...neighbours(24), ...generatedBlocks(2)]
    const whole = createTestStore(blocks, { events })
    let held = 0
    const [contents, documents] = [contentsOf(whole), documentsOf(whole)]
    using([whole], () => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 4 }),
          fc.integer({ min: 1, max: 9 }),
          fc.constantFrom(256, 2 ** 12, 2 ** 14),
          fc.constantFrom(600, 2 ** 18, 2 ** 20),
          (count, run, addresses, texts) => {
            let store: ReturnType<typeof createTestStore> | undefined
            try {
              store = createTestStore(blocks, { events, run, builders: { count, room: { addresses, texts } } })
            } catch (error) {
              assert.equal((error as Error).message, 'the shared dictionaries have no room left')
              return
            }
            using([store], () => {
              assert.deepStrictEqual(contentsOf(store), contents)
              assert.deepStrictEqual(documentsOf(store), documents)
              held++
            })
          },
        ),
        { numRuns: 12, seed: 3 },
      )
      assert.ok(held >= 4, `${held}`)
    })
  })

  it('goes on where another one ended', () => {
    const blocks = neighbours(30)
    const [pieces, whole] = [
      createTestStore(blocks.slice(0, 17), { events }),
      createTestStore(blocks, { events, run: 17 }),
    ]
    using([pieces, whole], () => {
      const more = createTestStore([], { path: pieces.path, events, builders: { count: 2 } })
      using([more], () => {
        more.add(blocks.slice(17))
        assert.deepStrictEqual(contentsOf(more), contentsOf(whole))
        assert.deepStrictEqual(documentsOf(more), documentsOf(whole))
      })
    })
  })

  it('does so of real blocks', { skip: hasMainnet ? false : 'no real blocks here' }, () => {
    const blocks = mainnetBlocks()
    const [pieces, whole] = [createTestStore(blocks, { builders: { count: 2 } }), createTestStore(blocks)]
    using([pieces, whole], () => assertSame(pieces, whole))
  })
})
