import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { CONTENTS } from '../../answers/stores.ts'
import { withoutCluster } from '../../support/cluster-fill.ts'
import { createRandom } from '../../support/ship.ts'
import { assertPromised } from '../promised.ts'
import { ask, type Both, setUp } from './support.ts'

/** Each asks a few dozen searches of the cluster. */
const ROUNDS = Number(process.env.ROUNDS ?? 8)

describe('a cluster brings along what hits are related to as a store does', {
  skip: withoutCluster,
}, () => {
  let both: Both
  before(async () => {
    both = await setUp(await CONTENTS.odd!['small runs']!())
  })
  after(() => both?.close())

  const same = async (entities: string, body: object): Promise<string> => {
    const text = JSON.stringify(body)
    const [answer, expected] = [await ask(both.cluster, entities, text), await ask(both.store, entities, text)]
    assertPromised(answer, expected, text)
    return answer
  }
  const random = createRandom(Number(process.env.SEED ?? 16))
  const oneOf = <T>(all: readonly T[]): T => all[random(all.length)]!
  const page = () => ({
    ...(random(2) === 0 && { from: random(3) }),
    ...(random(2) === 0 && { size: random(4) }),
    ...(random(3) === 0 && { _source: oneOf<unknown>([false, true, 'hash', ['*Number', 'from']]) }),
    ...(random(4) === 0 && { version: true, seq_no_primary_term: true }),
  })

  it('groups of collapsed hits', async () => {
    const fields = {
      tx: ['from', 'to', 'gas.num', 'status.num', 'method.raw', 'blockNumber.num', 'value.padded'],
      log: ['address', 'transactionHash', 'blockNumber.num', 'signature'],
      event: ['event.raw', 'contract', 'blockNumber.num'],
      'tx,log': ['blockNumber.num', 'blockHash'],
    }
    let groups = 0
    for (let round = 0; round < ROUNDS; round++) {
      const entities = oneOf(Object.keys(fields) as (keyof typeof fields)[])
      const sorts = [undefined, { 'blockNumber.num': 'asc' }, ['_doc'], [{ timestamp: 'desc' }, '_score']]
      const inner = (name: string) => ({ name, ...page(), ...(random(2) === 0 && { sort: oneOf(sorts) ?? '_doc' }) })
      const inner_hits = random(2) === 0 ? inner('a') : [inner('a'), inner('b c')]
      const answer = await same(entities, {
        ...{ ...page(), collapse: { field: oneOf(fields[entities]), inner_hits } },
        ...(random(2) === 0 && { sort: oneOf(sorts) }),
        ...(random(3) === 0 && { query: { range: { 'blockNumber.num': { gte: random(20) } } } }),
        ...(random(4) === 0 && { post_filter: { range: { 'blockNumber.num': { lte: 20 } } } }),
      })
      groups += answer.split('"inner_hits"').length - 1
    }
    assert.ok(groups > ROUNDS)
  })

  it('children and parents of hits', async () => {
    let related = 0
    const joins: [string, (inner_hits: object) => object][] = [
      ['block', inner_hits => ({ has_child: { type: 'tx', query: { match_all: {} }, inner_hits } })],
      [
        'block',
        inner_hits => ({ has_child: { type: 'tx', query: { exists: { field: 'to' } }, min_children: 2, inner_hits } }),
      ],
      ['tx', inner_hits => ({ has_child: { type: 'log', query: { match_all: {} }, inner_hits } })],
      ['tx', inner_hits => ({ has_parent: { parent_type: 'block', query: { match_all: {} }, inner_hits } })],
      ['log', inner_hits => ({ has_parent: { parent_type: 'tx', query: { exists: { field: 'from' } }, inner_hits } })],
      [
        'tx',
        inner_hits => ({
          has_parent: {
            parent_type: 'block',
            query: {
              has_child: { type: 'tx', query: { exists: { field: 'to' } }, inner_hits: { size: 1, name: 'within' } },
            },
            inner_hits,
          },
        }),
      ],
      ['event', inner_hits => ({ nested: { path: 'args', query: { exists: { field: 'args.name' } }, inner_hits } })],
    ]
    for (let round = 0; round < ROUNDS; round++) {
      const [entities, clause] = oneOf(joins)
      const sort = entities === 'event' ? 'args.pos' : oneOf<unknown>(['_doc', { timestamp: 'asc' }])
      const query = clause({ ...page(), seq_no_primary_term: false, ...(random(2) === 0 && { sort }) })
      const isMaybe = random(3) === 0
      const answer = await same(entities, {
        ...page(),
        query: isMaybe ? { bool: { should: [query, { match_all: {} }], boost: 0 } } : { bool: { filter: query } },
        ...((isMaybe || random(2) === 0) && { sort: '_doc' }),
        ...(random(6) === 0 && { size: -1, from: 0 }),
      })
      related += answer.split('"inner_hits"').length - 1
    }
    assert.ok(related > ROUNDS)
  })
})
