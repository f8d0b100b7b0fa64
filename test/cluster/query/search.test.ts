import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { shownId } from '../../../src/cluster/indices/names.ts'
import { supersetOf } from '../../../src/cluster/post-filter.ts'
import { MOST_RELATED, resolveJoins } from '../../../src/cluster/query/joins.ts'
import { prepareSearch } from '../../../src/cluster/query/search.ts'
import { ChainsieveError } from '../../../src/lib/errors.ts'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import { compilePredicate } from '../../../src/query/predicate.ts'
import type { SearchRequest } from '../../../src/query/request.ts'
import * as make from '../../../src/query/simplify.ts'
import { lowerConditions, toQuery } from '../../../src/rules/lower.ts'
import type { RuleCondition } from '../../../src/rules/rule.ts'
import { readFixture } from '../../answers/fixture.ts'
import { CONTENTS } from '../../answers/stores.ts'
import { type FilledCluster, fillCluster, withoutCluster } from '../../support/cluster-fill.ts'
import { bodyText, loadScenarios, stringifyLossless } from '../../support/scenarios.ts'
import { arbitrarySort } from '../../support/sorts.ts'
import { type Answered, createAsking, readRequest, withoutScores } from './ask.ts'

/** The cluster answers what the store of the same blocks does, or refuses by name. */

type Asking = ReturnType<typeof createAsking>

/** What is refused, as the names in the messages, with how often. */
const compareAll = async (
  { fromStore, fromCluster }: Asking,
  requests: readonly { name: string; request: SearchRequest }[],
): Promise<Map<string, number>> => {
  const refused = new Map<string, number>()
  const differ: string[] = []
  const queue = [...requests]
  const ask = async ({ name, request }: (typeof requests)[number]) => {
    const expected = fromStore(request)
    let answered: Answered
    try {
      answered = await fromCluster(request)
    } catch (error) {
      if (!(error instanceof ChainsieveError) || error.next !== 'refuse') throw error
      const [, what = error.message] = /^\[(.*?)\] does not work/.exec(error.message) ?? []
      refused.set(what, (refused.get(what) ?? 0) + 1)
      return
    }
    const [left, right] = [answered, expected].map(one => stringifyLossless(seen(request, one)))
    if (left !== right) differ.push(`${name}:\n  ${left!.slice(0, 1000)}\n  not\n  ${right!.slice(0, 1000)}`)
  }
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let next = queue.shift(); next; next = queue.shift()) await ask(next)
    }),
  )
  assert.deepEqual(differ, [])
  return refused
}

/** Scores are the cluster's own: where they decide, so is the order of hits. */
const seen = (request: SearchRequest, answered: Answered): Answered => {
  const { total, hits } = withoutScores(answered)
  if (!isByScore(request)) return { total, hits }
  const all = hits.map(hit => ({ ...hit, sort: undefined })).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return { total, hits: total < 0 || total > hits.length + request.from || request.after ? [] : all }
}

const isByScore = ({ sort, parts, size }: SearchRequest): boolean =>
  size !== 0 &&
  parts.some(({ score }) => score !== undefined) &&
  (sort.length === 0 || sort.some(({ by }) => by === '_score'))

const fill = (open: () => Promise<FilledCluster>) => {
  const filled = {} as FilledCluster & Asking
  before(async () => {
    const cluster = await open()
    Object.assign(filled, cluster, createAsking(cluster))
  })
  after(() => filled.close?.())
  return filled
}

describe('searches of the scenarios, over several indices and shards', { skip: withoutCluster }, () => {
  const at = fill(() => fillCluster(undefined, { prefix: 'query', naming: { shards: 2, blocksPerIndex: 500_000 } }))
  it('find what a store finds', async () => {
    const requests = loadScenarios().flatMap(({ file, cases }) =>
      cases.flatMap(scenario => {
        const request = readRequest(scenario.request.entities, bodyText(scenario))
        return request && request.minScore === undefined ? [{ name: `${file}: ${scenario.name}`, request }] : []
      }),
    )
    const refused = await compareAll(at, requests)
    for (const what of refused.keys()) assert.match(what, REFUSED)
  })
})

describe('searches of a chain', { skip: withoutCluster }, () => {
  const at = fill(async () =>
    fillCluster(await CONTENTS.demo!['one run']!(), { prefix: 'query', naming: { shards: 2, blocksPerIndex: 40 } }),
  )

  it('find what a store finds', async () => {
    const requests = readFixture('demo').flatMap(({ ask, name }, i) => {
      if (ask.op !== 'search' || i % 12 !== 0) return []
      const request = readRequest(ask.entities, ask.body)
      return request?.resume === undefined && request?.minScore === undefined && request && request.parts.length > 0
        ? [{ name, request }]
        : []
    })
    assert.ok(requests.length > 50)
    for (const what of (await compareAll(at, requests)).keys()) assert.match(what, REFUSED)
  })

  it('go on behind any hit, whether all that is sorted by the same is passed or not', async () => {
    const kinds = fc.constantFrom<Kind[][]>(['event'], ['tx'], ['trace'], ['log', 'event'], ['block', 'tx', 'call'])
    let compared = 0
    await fc.assert(
      fc.asyncProperty(
        kinds.chain(kinds => arbitrarySort(kinds).map(sort => ({ kinds, sort }))),
        fc.nat(200),
        fc.boolean(),
        async ({ kinds, sort }, from, isPlaced) => {
          const body = stringifyLossless({ sort, size: 1, from })
          const request = readRequest(kinds.join(), body)
          if (!request) return
          let compiled: Awaited<ReturnType<typeof prepareSearch>>
          try {
            compiled = await prepareSearch(request, { ask: at.ask, visible: at.visible })
          } catch (error) {
            assert.match(String(error), /does not work on a network whose documents lie in a cluster/)
            return
          }
          const { hits } = (await at.ask(compiled.kinds, compiled.body)) as { hits: { hits: { sort: unknown[] }[] } }
          const [hit] = hits.hits
          if (!hit) return
          const { place, values } = compiled.read(hit.sort)
          const next: SearchRequest = {
            ...{ ...request, from: 0, size: 20 },
            after: { values, place: isPlaced ? place : undefined },
          }
          assert.deepEqual(withoutScores(await at.fromCluster(next)), withoutScores(at.fromStore(next)), body)
          compared++
        },
      ),
      { numRuns: 60, seed: 5 },
    )
    assert.ok(compared > 20, `${compared} were compared`)
  })

  it('look in some blocks, or in slices of them', async () => {
    for (const kinds of ['event', 'block,tx'])
      for (const limits of [
        { within: [[3, 9] as const, [40, 41] as const] },
        { within: [] },
        { slice: { id: 0, max: 3 } },
        { slice: { id: 2, max: 3 }, within: [[5, 80] as const] },
      ]) {
        const request = { ...readRequest(kinds, '{"size":300}')!, ...limits }
        assert.deepEqual(withoutScores(await at.fromCluster(request)), withoutScores(at.fromStore(request)))
      }
  })

  it('end after so many matches of each kind', async () => {
    for (const most of [1, 3, 50, 9_000])
      for (const query of [
        { match_all: {} },
        { term: { transactionIndex: 0 } },
        { range: { 'blockNumber.num': { gte: 20 } } },
      ]) {
        const request = readRequest('tx,event', JSON.stringify({ query, terminate_after: most, size: 5 }))
        if (request) assert.deepEqual(await at.fromCluster(request), at.fromStore(request))
      }
  })

  it('find all that conditions of rules may hold for', async () => {
    const conditions: RuleCondition[] = [
      {
        name: 'args',
        operator: 'Inspect',
        operatorParameters: [{ name: 'value', operator: 'Greater', value: '1000' }],
      },
      { name: 'args', operator: 'Inspect', operatorParameters: [{ name: '0', operator: 'Equals', value: '1' }] },
      { name: 'event', operator: 'Greater', value: 'A' },
      { name: 'address', operator: 'Less or Equal', value: '0x7' },
    ]
    let asked = 0
    for (const condition of conditions) {
      const [compare] = lowerConditions({ targetType: 'Event', targetMap: [condition], alerts: [] })
      const own = toQuery('event', [compare!])
      for (const node of [own, make.notNode(own), make.notNode(compare!), make.orNode([own, make.idsNode(['0x00'])])]) {
        const { node: superset, exact } = supersetOf(node)
        const request = {
          ...readRequest('event', '{"size":10000}')!,
          parts: [{ kind: 'event' as const, query: superset }],
        }
        const found = new Set((await at.fromCluster(request)).hits.map(({ id }) => id))
        const documents = at.store.all('event')
        const expected = documents.filter(compilePredicate('event', node)).map(({ _id }) => _id)
        if (!exact) asked++
        assert.ok(
          expected.every(id => found.has(id)),
          `${JSON.stringify(condition)} finds all`,
        )
        if (exact) assert.equal(found.size, expected.length)
      }
    }
    assert.ok(asked > 0)
  })

  it('do not see what is hidden', async () => {
    const hidden = [
      { batches: { from: 0, to: 5 }, above: 30 },
      { batches: { from: 2, to: 2 }, above: -1 },
    ]
    const request = {
      ...readRequest(KINDS.filter(kind => kind !== 'token').join(), '{"size":10000}')!,
      within: undefined,
    }
    const compiled = await prepareSearch(request, { ask: at.ask, visible: { hidden } })
    const answer = (await at.ask(compiled.kinds, compiled.body)) as { hits: { hits: { _id: string }[] } }
    const expected = at.fromStore({ ...request, within: [[0, 30]] })
    assert.deepEqual(
      answer.hits.hits.map(({ _id }) => shownId(_id)),
      expected.hits.map(({ id }) => id),
    )
  })

  it('refuse conditions that stand for too many related documents, and look in the blocks that are asked for', async () => {
    const request = readRequest(
      'tx',
      '{"query":{"bool":{"filter":[{"has_child":{"type":"log","query":{"match_all":{}}}},{"range":{"blockNumber.num":{"lte":9}}}]}}}',
    )!
    const asked: string[] = []
    const ask = async (_: readonly Kind[], body: object) => {
      asked.push(JSON.stringify(body))
      const buckets = Array.from({ length: 10_000 }, (_, i) => ({ key: { id: `0x${asked.length}${i}` }, doc_count: 1 }))
      return { aggregations: { parents: { buckets, after_key: { id: 'z' } } } }
    }
    const { kind, query } = request.parts[0]!
    await assert.rejects(
      resolveJoins([{ kind, node: query }], { ask, visible: at.visible }),
      new RegExp(`has_child of more than ${MOST_RELATED} documents.*range of blocks`),
    )
    assert.equal(asked.length, 7)
    assert.match(asked[0]!, /\{"range":\{"blockNumber.num":\{"lte":"9"\}\}\}/)
  })
})

/** See docs/opensearch.md#searches. */
const REFUSED =
  /^(sort by _id|order by \S+\.dec|extra.*|a negative score|terminate_after|regexp with ~ or &|sort by .* of several kinds|collapse .*)$/
