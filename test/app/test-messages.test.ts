import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { alertFor } from '../../src/app/alerting.ts'
import { NO_LISTS } from '../../src/rules/lower.ts'
import type { RuleConfig } from '../../src/rules/rule.ts'

const EVENT = { targetType: 'Event', targetMap: [{ name: 'event', operator: 'Equals', value: 'Upgraded' }] }
const FAILED = { targetType: 'Transaction', targetMap: [{ name: 'status', operator: 'Equals', value: 'false' }] }

/** Answers each search with one document of its kind, and notes what was asked. */
const createAsked = () => {
  const asked: string[] = []
  const answer = (entity: string, body: (hit: object) => object) => {
    const source = { blockNumber: 7, blockHash: '0x1', block: { number: 7, hash: '0x1' }, number: 7, hash: '0x1' }
    const hit = { _index: `a-b-c-${entity}`, _id: 'x', _type: entity, _source: source }
    return { status: 200, body: Buffer.from(JSON.stringify(body(hit))) }
  }
  const pool = {
    ranges: async () => [{ from: 0, to: 9 }],
    deadlineMs: 1_000,
    async request({ request }: { request: { parts: { kind: string; query: unknown }[] } }) {
      const [{ kind, query }] = request.parts as [(typeof request.parts)[0]]
      asked.push(`newest ${kind}${inspect(query, { depth: null }).includes("path: 'status'") ? ' by status' : ''}`)
      return answer(kind, hit => ({ hits: { total: 1, hits: [hit] } }))
    },
    async get({ entity }: { entity: string }) {
      asked.push(entity)
      return answer(entity, hit => hit)
    },
  }
  return { asked, options: { networks: () => ['a/b/c'], pool: pool as never, lists: NO_LISTS } }
}

const testOf = async (last: object, id?: string) => {
  const config = { ...EVENT, alerts: [], when: { steps: [{}, { ...FAILED, ...last }], within: { blocks: 3 } } }
  const input = { name: 'r', maxConfirmationCount: 0, technology: 'a', blockchain: 'b', network: 'c' }
  const rule = { id: 1, matching: 1, network: 'a/b/c', input: { ...input, config: config as unknown as RuleConfig } }
  const { asked, options } = createAsked()
  const { alert } = await alertFor(options, rule, id, AbortSignal.timeout(5_000))
  return { asked: asked.join(), type: alert.targetType }
}

test('a rule with steps is tested with what its alerts show: a match of the last step, or a block', async () => {
  assert.deepEqual(await testOf({}), { asked: 'newest tx by status', type: 'Transaction' })
  assert.deepEqual(await testOf({ missing: true }), { asked: 'newest block', type: 'Block' })
  assert.deepEqual(await testOf({}, 'x'), { asked: 'tx', type: 'Transaction' })
  assert.deepEqual(await testOf({ missing: true }, 'x'), { asked: 'block', type: 'Block' })
})
