import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { CONTENTS } from '../../answers/stores.ts'
import { withoutCluster } from '../../support/cluster-fill.ts'
import { createRandom } from '../../support/ship.ts'
import { ask, type Both, setUp } from './support.ts'

/** Each asks a few dozen searches of the cluster. */
const ROUNDS = Number(process.env.ROUNDS ?? 8)

describe('a cluster brings along what hits are related to, and scores anew, as a store does', {
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
    assert.equal(answer, expected, text)
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

  it('scores of children and parents', async () => {
    const constant = (filter: object, boost: number) => ({ constant_score: { filter, boost } })
    const inner: Record<string, object[]> = {
      tx: [
        { match_all: {} },
        { match_all: { boost: 2.3 } },
        { term: { method: 'transfer' } },
        { bool: { should: [constant({ exists: { field: 'to' } }, 2), constant({ term: { 'type.num': 2 } }, 0.25)] } },
        { match_none: {} },
      ],
      log: [{ match_all: {} }, { bool: { should: [{ match_all: {} }, constant({ exists: { field: 'topics' } }, 3)] } }],
      block: [{ match_all: {} }, { bool: { should: [constant({ range: { 'number.num': { gt: 5 } } }, 2)] } }],
    }
    const joins: [string, () => object][] = ['avg', 'sum', 'min', 'max', 'none'].flatMap(score_mode => [
      ['block', () => ({ has_child: { type: 'tx', query: oneOf(inner.tx!), score_mode } })],
      ['tx', () => ({ has_child: { type: 'log', query: oneOf(inner.log!), score_mode, boost: 1.5 } })],
      [
        'block',
        () => ({
          has_child: {
            type: 'tx',
            query: { has_child: { type: 'log', query: oneOf(inner.log!), score_mode: 'sum' } },
            score_mode,
          },
        }),
      ],
    ])
    joins.push(
      ['tx', () => ({ has_parent: { parent_type: 'block', query: oneOf(inner.block!), score: true } })],
      ['log', () => ({ has_parent: { parent_type: 'tx', query: oneOf(inner.tx!), score: true } })],
    )
    let scored = 0
    for (let round = 0; round < ROUNDS; round++)
      for (const [entities, clause] of joins) {
        const query = oneOf<() => object>([
          clause,
          () => ({ bool: { should: [clause(), { match_all: {} }] } }),
          () => ({ bool: { must: clause(), filter: { range: { timestamp: { gt: 0 } } } } }),
          () => ({ dis_max: { queries: [clause(), constant({ match_all: {} }, 1.5)] } }),
        ])()
        const answer = await same(entities, {
          ...{ ...page(), query, _source: false },
          ...(random(4) === 0 && { size: -1, from: 0 }),
        })
        assert.ok(answer.startsWith('200'), answer)
        if (answer.includes('"_score":')) scored++
      }
    assert.ok(scored > 2 * ROUNDS)
  })
})
