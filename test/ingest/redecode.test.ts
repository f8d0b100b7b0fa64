import assert from 'node:assert/strict'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { encodeErrorResult, parseAbi } from 'viem'
import type { RawBlock, RpcTrace } from '../../src/chain/wire.ts'
import type { PatchLine } from '../../src/cluster/ship/sending.ts'
import type { Document } from '../../src/documents/document.ts'
import type { Revision } from '../../src/engine/index/redecode-patch.ts'
import { createSuggester } from '../../src/engine/query/suggest.ts'
import { openReader } from '../../src/engine/reader.ts'
import { blockOf } from '../../src/engine/schema.ts'
import { abiFile, type StoredAbi } from '../../src/ingest/decoding/abi-files.ts'
import type { RedecodingReport } from '../../src/ingest/messages.ts'
import { askToRedecode, openRedecodings, type RedecodeRequest, stopRedecode } from '../../src/ingest/requests.ts'
import { type Log, silent } from '../../src/lib/log.ts'
import { compilePredicate } from '../../src/query/predicate.ts'
import { assertSame, checkSegments, documentsOf, numberOf, queriesOn, using } from '../support/contents.ts'
import { memoryCluster } from '../support/memory-cluster.ts'
import { hasMainnet } from '../support/pack.ts'
import { ABIS, abiOf, blocks, endable, LISTS, NETWORK, setUp, TRANSFER } from '../support/redecoding.ts'
import { emptyUpTo, inCluster, same } from '../support/redecoding-cluster.ts'
import { closing, startShipper } from '../support/ship.ts'
import { createTestStore, demoBlocks, mainnetBlocks, type TestStore } from '../support/store.ts'

const suggestionsOf = (store: TestStore) => {
  const reader = openReader(store.path)
  reader.begin()
  const suggest = createSuggester(reader, () => [])
  const found = ['', 'tra', 'moor', 'sha', 'bare', 'na', 'wide'].map(q => suggest({ q, size: 50, contracts: [] }))
  reader.end()
  reader.close()
  return found.map(all => all.map(({ text, kind, score }) => `${kind} ${text} ${score}`).sort())
}

const rounds = (seed: number, numRuns: number) => ({ seed, numRuns, endOnFailure: true })
const subsets = fc.shuffledSubarray(ABIS, { minLength: 1 })
const runs = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 })
/** From steps that grow to steps of one document. */
const paces = fc.constantFrom(0, 15, 40, 10_000)

describe('what is decoded anew', () => {
  it('is as if the ABIs had been there from the start, whichever they are and in whatever segments', async t => {
    const { keep, ask, run, own, clear, folder } = setUp(t)
    let changes = 0
    await fc.assert(
      fc.asyncProperty(subsets, fc.nat(), runs, paces, async (some, cut, run_, pace) => {
        clear()
        const later = some.slice(cut % some.length)
        for (const abi of some) if (!later.includes(abi)) keep(abi)
        const store = createTestStore(blocks, { own: own(), run: run_ })
        for (const abi of later) {
          keep(abi)
          ask(abi)
        }
        const oracle = createTestStore(blocks, { own: own(), run: run_ })
        const suggest = createSuggester(store.reader, () => [])
        store.read(() => suggest({ q: '', size: 9, contracts: [] }))
        try {
          await run(store, {
            took: () => pace,
            revise(revision, write) {
              changes += revision.logs.length + revision.calls.length
              return write()
            },
          })
          assertSame(store, oracle, queriesOn(oracle, 6))
          assert.deepEqual(suggestionsOf(store), suggestionsOf(oracle))
          const kept = store.read(() => suggest({ q: '', size: 99, contracts: [] }))
          const fresh = oracle.read(() => createSuggester(oracle.reader, () => [])({ q: '', size: 99, contracts: [] }))
          const sorted = (all: typeof kept) => all.map(({ text, score }) => `${text} ${score}`).sort()
          assert.deepEqual(sorted(kept), sorted(fresh), 'a suggester that knew the segments as they were')
          assert.deepEqual(openRedecodings(folder), [])
        } finally {
          for (const it of [store, oracle]) it.close()
        }
      }),
      rounds(1, 14),
    )
    assert.ok(changes > 500, `${changes}`)
  })

  it('is changed once and for all, whenever the program ends', async t => {
    const { keep, ask, run, own, clear, folder } = setUp(t)
    const ends = fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.boolean()), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(ABIS, { minLength: 3 }),
        runs,
        paces,
        ends,
        async (some, sizes, pace, ends) => {
          clear()
          const first = createTestStore(blocks, { own: own(), run: sizes })
          for (const abi of some) {
            keep(abi)
            ask(abi)
          }
          const oracle = createTestStore(blocks, { own: own(), run: sizes })
          const opened = [first, oracle]
          const changed = new Map<string, number>()
          let steps = 0
          try {
            for (const [last, written] of [...ends, [Number.POSITIVE_INFINITY, false] as const]) {
              steps = 0
              // What was known and not written is gone; a store has one writer at a time.
              for (const it of opened) if (it !== oracle) it.endWriting()
              const store = createTestStore([], { path: first.path })
              opened.push(store)
              await endable((end, signal) =>
                run(store, {
                  took: () => pace,
                  signal,
                  revise(revision, write) {
                    const ends = steps++ === last
                    if (ends && !written) end()
                    for (const [kind, all] of Object.entries({ log: revision.logs, call: revision.calls }))
                      for (const { position } of all) {
                        const key = `${kind} ${position}`
                        changed.set(key, (changed.get(key) ?? 0) + 1)
                      }
                    const done = write()
                    if (ends) end()
                    return done
                  },
                }),
              )
            }
            assertSame(opened.at(-1)!, oracle)
            assert.deepEqual(
              [...changed].filter(([, times]) => times > 1),
              [],
            )
            assert.deepEqual(openRedecodings(folder), [])
          } finally {
            for (const it of opened) it.close()
          }
        },
      ),
      rounds(2, 10),
    )
  })

  it('goes on where it was, and repeats a step at most', async t => {
    const { keep, ask, run, own, folder } = setUp(t)
    const store = createTestStore(blocks, { own: own(), run: 4 })
    t.after(() => store.close())
    for (const abi of ABIS) keep(abi)
    ask(ABIS[1]!)
    const seen: number[] = []
    for (let ended = true; ended; ) {
      let steps = 0
      ended = await endable((end, signal) =>
        run(store, {
          took: () => 40,
          signal,
          revise(revision, write) {
            seen.push(Math.max(...revision.logs.map(({ position }) => blockOf(position))))
            const done = write()
            if (++steps === 2) end()
            return done
          },
        }),
      )
      const [left] = openRedecodings(folder)
      if (left) assert.ok(left.next! >= seen.at(-1)!, 'what is noted is behind what was done')
    }
    assert.ok(seen.length > 2, `${seen}`)
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => b - a),
    )
  })

  it('begins anew where a power cut has emptied what was noted', async t => {
    const { keep, ask, run, own, folder } = setUp(t)
    const store = createTestStore(blocks, { own: own(), run: 4 })
    t.after(() => store.close())
    for (const abi of ABIS) keep(abi)
    const [{ path }] = ask(ABIS[1]!) as [RedecodeRequest]
    writeFileSync(path, '')
    let steps = 0
    await run(store, {
      revise(_, write) {
        steps++
        return write()
      },
    })
    assert.ok(steps > 0)
    assert.deepEqual(openRedecodings(folder), [])
  })

  it('stops before the next step where that is asked for, and one that has not begun never begins', async t => {
    const { keep, ask, run, own, folder } = setUp(t)
    const store = createTestStore(blocks, { own: own(), run: 4 })
    t.after(() => store.close())
    for (const abi of ABIS) keep(abi)
    ask(ABIS[1]!)
    let steps = 0
    await run(store, {
      took: () => 40,
      revise(_, write) {
        steps++
        const [redecoding] = openRedecodings(folder)
        stopRedecode(redecoding!, true)
        return write()
      },
    })
    assert.equal(steps, 1)
    assert.deepEqual(readdirSync(folder), [])

    ask(ABIS[1]!)
    const [redecoding] = openRedecodings(folder)
    stopRedecode(redecoding!, false)
    assert.deepEqual(openRedecodings(folder), [])
    await run(store, { revise: (_, write) => write() })
    assert.equal(steps, 1)
  })

  it('is right although blocks come and go and segments are merged meanwhile', async t => {
    const { keep, ask, run, own, clear, folder } = setUp(t)
    let stale = 0
    const happenings = fc.array(
      fc.constantFrom('add', 'add', 'add', 'rollback', 'nothing', 'merge', 'step', 'step', 'step'),
      {
        minLength: 4,
        maxLength: 30,
      },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(ABIS, { minLength: 3 }),
        happenings,
        paces,
        fc.nat(),
        async (some, what, pace, seed) => {
          clear()
          const store = createTestStore(blocks.slice(0, 14), { own: own(), run: 1 })
          for (const abi of some) {
            keep(abi)
            ask(abi)
          }
          store.decodeBy(own())
          let held = 14
          const happen = () => {
            const next = what.shift()
            if (next === 'add' && held < blocks.length) {
              const batch = store.prepare([blocks[held++]!])
              store.writer.apply(batch)
              store.preparer.committed(batch.added)
            } else if (next === 'rollback') {
              held -= Math.min(held - 1, 1 + (seed % 6))
              store.rollback(numberOf(blocks[held - 1]!))
            } else if (next === 'step') {
              // Some of a merge, which may be under way when what it merges is revised.
              for (const { first } of segmentsOf(store)) if (store.writer.merge(first)) break
            } else if (next === 'merge') for (const { first } of segmentsOf(store)) while (store.writer.merge(first));
          }
          await run(store, {
            took: () => pace,
            revise(_, write) {
              // After it was looked at, and before it is written.
              happen()
              const done = write()
              if (!done) stale++
              happen()
              return done
            },
          })
          store.add(blocks.slice(held))
          const oracle = createTestStore(blocks, { own: own(), run: 5 })
          try {
            assertSame(store, oracle)
            assert.deepEqual(openRedecodings(folder), [])
          } finally {
            for (const it of [store, oracle]) it.close()
          }
        },
      ),
      rounds(3, 25),
    )
    assert.ok(stale > 4, `${stale}`)
  })

  it('is never less sure than it was, and is found as what it is', async t => {
    const { keep, ask, run, own, clear } = setUp(t)
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...ABIS, ...LISTS], { minLength: 2 }),
        fc.nat(),
        fc.boolean(),
        runs,
        async (some, cut, forgotten, sizes) => {
          clear()
          const later = some.slice(cut % some.length)
          for (const abi of some) if (!later.includes(abi)) keep(abi)
          const store = createTestStore(blocks, { own: own(), run: sizes })
          const before = documentsOf(store)
          // What is stored stays decoded by what is no longer there.
          if (forgotten) clear()
          for (const abi of later) {
            keep(abi)
            ask(abi)
          }
          const oracle = createTestStore(blocks, { own: own(), run: sizes })
          try {
            await run(store)
            checkSegments(store)
            const [documents, now] = [documentsOf(store), documentsOf(oracle)]
            for (const kind of ['log', 'block', 'trace'] as const) assert.deepEqual(documents[kind], before[kind])
            for (const kind of ['event', 'call'] as const)
              assert.deepEqual(documents[kind]!.toSorted(byId), surest(before[kind]!, now[kind]!))
            for (const [kind, node] of queriesOn(store, 10)) {
              const { positions, counted } = store.evaluate(kind, node)
              const matches = compilePredicate(kind, node)
              const all = store.positions(kind).filter((_, i) => matches(documents[kind]![i]!))
              assert.deepEqual([positions, counted], [all, all.length])
            }
          } finally {
            for (const it of [store, oracle]) it.close()
          }
        },
      ),
      rounds(4, 25),
    )
  })

  it('is found where the dictionary had no room for what was unknown', async t => {
    const { keep, ask, run, own, clear } = setUp(t)
    for (const some of [ABIS, ABIS.slice(0, 2), [ABIS[2]!, ABIS[4]!]]) {
      clear()
      const store = createTestStore(blocks, { own: own(), run: 5, listedSignatures: 2 })
      for (const abi of some) {
        keep(abi)
        ask(abi)
      }
      const oracle = createTestStore(blocks, { own: own(), run: 5, listedSignatures: 2 })
      const queries = queriesOn(oracle, 20)
      await run(store)
      using([store, oracle], () => {
        checkSegments(store)
        assert.deepEqual(documentsOf(store), documentsOf(oracle))
        for (const [kind, node] of queries) {
          const [a, b] = [store.evaluate(kind, node), oracle.evaluate(kind, node)]
          assert.deepEqual([a.positions, a.counted], [b.positions, b.counted])
        }
      })
    }
  })

  it('is so of real blocks', { skip: !hasMainnet && 'there are no real blocks at hand' }, async t => {
    const { keep, ask, run, own } = setUp(t)
    const real = mainnetBlocks()
    const store = createTestStore(real, { own: [], run: 3 })
    const abi = abiOf(
      'tokens',
      [
        TRANSFER,
        'event Swap(address indexed by, int256 a, int256 b, uint160 c, uint128 d, int24 e)',
        'event Approval(address indexed whose, address indexed whom, uint256 much)',
        'function transfer(address whom, uint256 much)',
        'function approve(address whom, uint256 much)',
      ].join('\n'),
    )
    keep(abi)
    ask(abi)
    const oracle = createTestStore(real, { own: own(), run: 3 })
    let changed = 0
    await run(store, {
      revise(revision, write) {
        changed += revision.logs.length + revision.calls.length
        return write()
      },
    })
    using([store, oracle], () => assertSame(store, oracle, queriesOn(oracle, 5)))
    assert.ok(changed > 500, `${changed}`)
  })

  it('is told of, and of an ABI that is gone nothing is', async t => {
    const { keep, ask, run, own, folder, forget } = setUp(t)
    const store = createTestStore(blocks, { own: own(), run: 6 })
    t.after(() => store.close())
    keep(ABIS[0]!)
    ask(ABIS[0]!)
    keep(ABIS[1]!)
    ask(ABIS[1]!)
    forget(ABIS[1]!)
    askToRedecode(folder, ABIS[0]!, ['another/net/work'])
    const reports: (RedecodingReport | null)[] = []
    const lines: unknown[] = []
    const log = { ...silent, info: (message: string, fields: object = {}) => void lines.push({ message, ...fields }) }
    await run(store, { onReport: report => reports.push(report), log })
    const before = store.all('event').filter(({ _source }) => /^(Wide|Shapes)$/.test(_source.event as string)).length
    assert.deepEqual(lines, [
      { message: 'Decodes stored blocks again', abi: 'odd' },
      { message: 'Decoded stored blocks again', abi: 'odd', logs: before, calls: 0, transactions: 0, traces: 0 },
    ])
    assert.ok(before > 50)
    assert.equal(reports.pop(), null)
    const told = reports.filter(report => report !== null)
    assert.ok(told.every(({ abi }) => abi === 'odd'))
    const left = told.map(({ blocksLeft }) => blocksLeft)
    assert.deepEqual(
      left,
      left.toSorted((a, b) => b - a),
    )
    assert.deepEqual([left.length > 1, left.at(-1)], [true, 0])
    assert.deepEqual(
      openRedecodings(folder).map(({ network, next }) => [network, next]),
      [['another/net/work', null]],
      'that of another network stays',
    )
  })

  it('waits while an ABI cannot be read', async t => {
    const { keep, ask, run, own, folder, abis } = setUp(t)
    const store = createTestStore(blocks, { own: own(), run: 6 })
    t.after(() => store.close())
    keep(ABIS[0]!)
    ask(ABIS[0]!)
    writeFileSync(join(abis, 'broken.json'), '{')
    const before = documentsOf(store)
    const errors: string[] = []
    const stopping = new AbortController()
    const log = {
      ...silent,
      error(message: string, { abi }: { abi?: unknown } = {}) {
        errors.push(`${message}: ${abi}`)
        stopping.abort()
      },
    }
    await assert.rejects(run(store, { log: log as Log, signal: stopping.signal }))
    assert.deepEqual(errors, [`Failed to decode stored blocks again, will retry later: ${abiFile(ABIS[0]!)}`])
    assert.deepEqual(documentsOf(store), before)
    rmSync(join(abis, 'broken.json'))
    await run(store)
    assert.deepEqual(openRedecodings(folder), [])
    assert.notDeepEqual(documentsOf(store), before)
  })
})

/** Whether it ended before its time: nothing is done after `end`. */
const segmentsOf = (store: TestStore) => store.read(() => store.reader.segments())

/** Of two states the documents that are surer, the second where both are as sure; what decodes now and did not before is taken anyway. */
const surest = (before: readonly Document[], after: readonly Document[]): Document[] => {
  const all = new Map(before.map(document => [document._id, document]))
  for (const document of after) {
    const known = all.get(document._id)
    if (!known || !isLessSure(document, known)) all.set(document._id, document)
  }
  return [...all.values()].sort(byId)
}
const isLessSure = (document: Document, than: Document): boolean => {
  const [now, was] = [document, than].map(({ _source: { probability, str } }) => ({
    probability: (probability ?? 0) as number,
    decodes: str !== null,
  })) as [{ probability: number; decodes: boolean }, { probability: number; decodes: boolean }]
  if (now.decodes && !was.decodes) return false
  return now.probability < was.probability || (now.probability === was.probability && was.decodes && !now.decodes)
}
const byId = (a: Document, b: Document): number => (a._id < b._id ? -1 : 1)

const ADRIFT = parseAbi(['error Adrift(address ship, uint256 fathoms)'])
const SHIP = '0x000000000000000000000000000000abcdef1234'
type Failed = Exclude<RpcTrace, { type: 'reward' }>
/** Blocks of the demo chain in which something failed; whatever reverted there did so with an error that nobody knows. */
const adrift = demoBlocks()
  .filter(({ traces }) => traces?.some(trace => 'error' in trace && trace.error === 'Reverted'))
  .slice(0, 30)
  .map((raw, n): RawBlock => {
    const copy = structuredClone(raw)
    copy.block.number = `0x${(100 + n).toString(16)}`
    for (const [i, trace] of ((copy.traces ?? []) as Failed[]).entries()) {
      if (trace.error !== 'Reverted' || (n + i) % 5 === 0) continue
      const said = encodeErrorResult({ abi: ADRIFT, args: [SHIP, BigInt(n)] })
      const data = n % 7 === 3 ? (said.slice(0, 40) as `0x${string}`) : said
      if (trace.type === 'call') trace.result = { gasUsed: '0x1', output: data }
      else if (trace.type === 'create') trace.result = { gasUsed: '0x1', code: data } as never
    }
    return copy
  })
const failed = adrift.flatMap(({ traces }) => ((traces ?? []) as Failed[]).filter(({ error }) => error === 'Reverted'))
const called = failed.find(({ type, traceAddress }) => type === 'call' && traceAddress.length === 0)!
const contract = (called.action as { to: string }).to.toLowerCase()
const FOR_ALL = abiOf('harbour', 'error Adrift(address ship, uint256 fathoms)\nerror Aground()')
const OF_ONE = abiOf('its', 'error Adrift(address vessel, uint256 depth)', { address: contract, network: NETWORK })
const LIST = abiOf('list', 'function Adrift(address a, uint256 b)', { probability: 0.6 })
/** Stores the blocks, adds the ABIs, decodes again, and holds it against a store that had them from the start. */
const check = async (t: TestContext, first: StoredAbi[], later: StoredAbi[], traces: 'calls' | 'all', took = 0) => {
  const { own, keep, ask, run } = setUp(t)
  for (const abi of first) keep(abi)
  const store = createTestStore(adrift, { own: own(), run: 9, traces })
  // The same in a cluster.
  const shelved = createTestStore(adrift, { own: own(), run: 9, traces })
  const memory = memoryCluster()
  const shipper = startShipper(shelved, memory)
  closing(t, () => shipper, shelved)
  await shipper.rested()
  emptyUpTo(shelved, 115)
  for (const abi of later) {
    keep(abi)
    ask(abi)
  }
  const oracle = createTestStore(adrift, { own: own(), run: 9, traces })
  t.after(() => {
    store.close()
    oracle.close()
  })
  let changes = 0
  const revise = (revision: Revision, write: () => boolean) => {
    changes += revision.txs.length + revision.traces.length
    return write()
  }
  await run(store, { revise, took: () => took })
  assertSame(store, oracle, queriesOn(oracle, 4))
  for (const abi of later) ask(abi)
  const patch = async (lines: readonly PatchLine[]) => ({ done: await shipper.patch(lines) })
  await run(shelved, { revise, took: () => took, ...inCluster(shelved, memory, patch) })
  same(shelved, memory, oracle)
  return { store, changes }
}
describe('failures that are decoded anew', () => {
  it('are as if the ABI had been there from the start, in transactions, steps and calls', async t => {
    const { store, changes } = await check(t, [], [FOR_ALL], 'all')
    assert.ok(changes > 40, `${changes}`)
    const find = (kind: 'tx' | 'trace' | 'call') =>
      store.all(kind).filter(({ _source }) => _source.revertName === 'Adrift')
    const reason = /^Adrift\(ship=0x0+abcdef1234, fathoms=\d+\)$/i
    for (const kind of ['tx', 'trace', 'call'] as const) {
      const found = find(kind)
      assert.ok(found.length > 10, `${kind}: ${found.length}`)
      for (const { _source } of found) assert.match(String(_source.revertReason), reason)
    }
    for (const { _source } of find('tx')) assert.equal(_source.error, _source.revertReason)
  })

  it('by the ABI of one contract, which goes before those for all; one document at a time', async t => {
    const { store } = await check(t, [FOR_ALL], [OF_ONE], 'all', 10_000)
    const reasons = store.all('tx').map(({ _source }) => String(_source.revertReason))
    assert.ok(reasons.some(reason => reason.includes('vessel=')) && reasons.some(reason => reason.includes('ship=')))
  })

  it('by a list of signatures, where nothing surer is known', async t => {
    const { changes } = await check(t, [], [LIST], 'all')
    assert.ok(changes > 40)
    assert.equal((await check(t, [FOR_ALL], [LIST], 'all')).changes, 0)
  })

  it('where only steps that call functions are kept', async t => {
    const { changes } = await check(t, [], [FOR_ALL], 'calls')
    assert.ok(changes > 40)
  })
})
