import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { readCode } from '../../../src/decode/abi-finder.ts'
import { similarityOf } from '../../../src/decode/code-similarity.ts'
import { creationsIn } from '../../../src/documents/contracts.ts'
import type { Document } from '../../../src/documents/document.ts'
import { createSearcher } from '../../../src/engine/query/searcher.ts'
import { answerSimilar } from '../../../src/search/answer.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'

const rounded = (similarity: number) => Math.round(similarity * 1e5) / 1e5
const ALWAYS = { deadline: Number.POSITIVE_INFINITY }

describe('contracts like another one', () => {
  const blocks = demoBlocks()
  const store = createTestStore(blocks)
  const searcher = createSearcher(store.reader)
  after(() => store.close())
  const created = blocks.flatMap(creationsIn).map(({ address, code }) => ({ address, code: readCode(code!) }))

  it('are those whose codes have most in common, the nearest first', () => {
    for (const { address, code } of created) {
      const found = searcher
        .similar({ kind: 'contract', id: address, size: 5 }, ALWAYS)!
        .map(({ document, similarity }): [string, number] => [document._id, rounded(similarity)])
      const due = created
        .filter(other => other.address !== address)
        .map((other): [string, number] => [other.address, rounded(similarityOf(code.features, other.code.features))])
        .filter(([, similarity]) => similarity > 0)
        .sort(([, a], [, b]) => b - a)
        .slice(0, 5)
      assert.deepEqual(
        found.map(([, similarity]) => similarity),
        due.map(([, similarity]) => similarity),
      )
      const last = due.at(-1)![1]
      const isSure = ([, similarity]: readonly (string | number)[]) => (similarity as number) > last
      assert.deepEqual(found.filter(isSure).sort(), due.filter(isSure).sort())
    }
  })

  it('are as many as are asked for, and none is the contract itself', () => {
    const { address } = created[0]!
    const all = searcher.similar({ kind: 'contract', id: address, size: 100 }, ALWAYS)!
    assert.ok(all.length > 10 && all.every(({ document }) => document._id !== address))
    assert.deepEqual(
      searcher.similar({ kind: 'contract', id: address.toUpperCase().replace('X', 'x'), size: 3 }, ALWAYS),
      all.slice(0, 3),
    )
  })

  it('are answered like hits, with the likeness for a score', () => {
    const { address } = created[0]!
    const [first] = searcher.similar({ kind: 'contract', id: address, size: 1 }, ALWAYS)!
    const { status, body } = answerSimilar(searcher, 'a-b-c', { kind: 'contract', id: address, size: 1 }, ALWAYS)
    const { took: _, ...answer } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as Record<string, unknown>
    const score = Math.round(first!.similarity * 10_000) / 10_000
    const { _id, _source } = JSON.parse(JSON.stringify(first!.document))
    const hit = { _index: 'a-b-c-contract', _type: 'contract', _id, _score: score, _source }
    assert.deepEqual(
      [status, answer],
      [
        200,
        {
          timed_out: false,
          _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
          hits: { total: 1, max_score: score, hits: [hit] },
        },
      ],
    )
  })

  it('are not found where the contract is not, and refused where its code is not known', () => {
    const unknown = `0x${'12'.repeat(20)}`
    assert.equal(searcher.similar({ kind: 'contract', id: unknown, size: 1 }, ALWAYS), undefined)
    assert.deepEqual(answerSimilar(searcher, 'a-b-c', { kind: 'contract', id: unknown, size: 1 }, ALWAYS), {
      status: 404,
      body: new TextEncoder().encode(
        JSON.stringify({ _index: 'a-b-c-contract', _type: 'contract', _id: unknown, found: false }),
      ),
    })
    const without = createTestStore(blocks.slice(0, 20).map(({ traces: _, ...raw }) => raw))
    const [contract] = without.all('contract')
    assert.throws(
      () => createSearcher(without.reader).similar({ kind: 'contract', id: contract!._id, size: 1 }, ALWAYS),
      {
        message: `The code of the contract ${contract!._id} is not known, or has no instructions, so no contract is similar to it.`,
      },
    )
    without.close()
  })
})

describe('what happens at contracts like another one', () => {
  const blocks = demoBlocks()
  const store = createTestStore(blocks)
  const searcher = createSearcher(store.reader)
  after(() => store.close())
  type Source = Record<string, string>
  const contracts = new Map(store.all('contract').map(({ _id, _source }) => [_id, _source as Source]))
  const logs = new Map(store.all('log').map(({ _id, _source }) => [_id.replace('_l_', '_e_'), _source as Source]))

  const fieldsOf = (kind: 'event' | 'call', { _id, _source }: Document): (string | undefined)[] => {
    const { to, selector } = _source as Source
    const log = logs.get(_id)
    return kind === 'call' ? [to?.toLowerCase(), selector] : [log?.address?.toLowerCase(), log?.signature]
  }
  const happened = {
    event: Map.groupBy(store.all('event'), document => fieldsOf('event', document).join()),
    call: Map.groupBy(store.all('call'), document => fieldsOf('call', document).join()),
  }

  /** All of the same kind, with the likeness that is told of their contracts. */
  const naive = (kind: 'event' | 'call', document: Document, size: number) => {
    const [address, what] = fieldsOf(kind, document)
    const like = searcher.similar({ kind: 'contract', id: address!, size: 1000 }, ALWAYS)!
    return like
      .filter(({ similarity }) => similarity >= 0.5)
      .flatMap(({ document: { _id: other }, similarity }) => {
        const found = happened[kind].get([other, what].join()) ?? []
        const newest = Math.max(...found.map(({ _source }) => numberOf(_source)))
        const ids = found.filter(({ _source }) => numberOf(_source) === newest).map(({ _id }) => _id)
        return ids.length === 0 ? [] : [{ ids, similarity }]
      })
      .slice(0, size)
  }
  const numberOf = (source: object) => Number((source as { blockNumber: { num: number } }).blockNumber.num)

  for (const kind of ['event', 'call'] as const)
    it(`is the newest ${kind} of the same kind of each of them, the nearest first`, () => {
      let found = 0
      let refused = 0
      const all = store.all(kind)
      for (let i = 0; i < all.length; i += 17) {
        const id = all[i]!._id
        try {
          const similar = searcher.similar({ kind, id, size: 5 }, ALWAYS)!
          const due = naive(kind, all[i]!, 5)
          assert.equal(similar.length, due.length, id)
          for (const [rank, { document, similarity }] of similar.entries()) {
            assert.equal(similarity, due[rank]!.similarity)
            assert.ok(due[rank]!.ids.includes(document._id), document._id)
          }
          found += similar.length
        } catch (error) {
          assert.match((error as Error).message, /is not stored, so its code|has no selector|is not known, or has/)
          refused++
        }
      }
      assert.ok(found > 10, `${found} found`)
      assert.ok(refused < all.length / 17, `${refused} refused`)
      assert.ok(contracts.size > 0)
    })

  it('is not found where the document is not', () => {
    const id = `0x${'12'.repeat(32)}_e_1`
    assert.equal(searcher.similar({ kind: 'event', id, size: 1 }, ALWAYS), undefined)
    assert.equal(answerSimilar(searcher, 'a-b-c', { kind: 'event', id, size: 1 }, ALWAYS).status, 404)
  })

  it('goes with the blocks that are reorganised away, and comes back with them', () => {
    const changing = createTestStore(blocks)
    const asking = createSearcher(changing.reader)
    const { _id } = changing.all('contract')[0]!
    const ids = () =>
      asking.similar({ kind: 'contract', id: _id, size: 100 }, ALWAYS)!.map(({ document }) => document._id)
    const before = ids()
    changing.rollback(200)
    const stored = new Set(changing.all('contract').map(contract => contract._id))
    assert.ok(stored.size > 1 && stored.size < contracts.size)
    assert.deepEqual(
      ids(),
      before.filter(id => stored.has(id)),
    )
    changing.add(blocks.filter(({ block }) => Number(block.number) > 200))
    assert.deepEqual(ids(), before)
    changing.close()
  })

  it('is refused with the reason, and 501, where sqlite-vec has no build, while everything else works', t => {
    const { arch } = process
    t.after(() => Object.defineProperty(process, 'arch', { value: arch }))
    Object.defineProperty(process, 'arch', { value: 'riscv64' })
    const elsewhere = createTestStore(blocks)
    const asking = createSearcher(elsewhere.reader)
    const [contract] = elsewhere.all('contract')
    assert.throws(() => asking.similar({ kind: 'contract', id: contract!._id, size: 1 }, ALWAYS), {
      next: 'refuse',
      code: 'not_implemented_exception',
      message: /cannot be loaded on this server \(\w+ riscv64\): the npm package sqlite-vec-\w+-riscv64, which/,
    })
    assert.deepEqual(asking.get('contract', contract!._id)?._id, contract!._id)
    Object.defineProperty(process, 'arch', { value: arch })
    // An operator may install it while the program runs.
    assert.equal(asking.similar({ kind: 'contract', id: contract!._id, size: 1 }, ALWAYS)!.length, 1)
    elsewhere.close()
  })

  it('is given up at the deadline', () => {
    const { _id } = store.all('contract')[0]!
    assert.throws(() => searcher.similar({ kind: 'contract', id: _id, size: 1 }, { deadline: 0 }), {
      code: 'search_timeout_exception',
    })
  })
})
