import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { readCode } from '../../../src/decode/contract-code.ts'
import { similarityOf } from '../../../src/decode/features.ts'
import { creationsIn } from '../../../src/documents/contracts.ts'
import { createSearcher } from '../../../src/engine/query/execute.ts'
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
