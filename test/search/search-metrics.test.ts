import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuse, retry, stop } from '../../src/lib/errors.ts'
import { createMetrics } from '../../src/metrics/index.ts'
import { measureSearch } from '../../src/search/search-metrics.ts'
import type { SearchService } from '../../src/search/service.ts'
import { ALICE, echo, MAINNET } from '../http/support.ts'

const asking = { network: MAINNET, account: ALICE.id, signal: new AbortController().signal }
const asked = { ...asking, entities: 'tx', body: undefined }

const counted = (metrics: ReturnType<typeof createMetrics>) =>
  Object.fromEntries(
    metrics
      .snapshot()
      .flatMap(one => (one.type === 'counter' ? one.series : []))
      .map(({ labels: { kind, outcome }, value }) => [`${kind} ${outcome}`, value])
      .filter(([, value]) => value !== 0),
  )

test('queries are counted by kind, and answered as they were', async () => {
  const metrics = createMetrics()
  const service = measureSearch(echo, metrics)
  assert.deepEqual(await service.search(asked), await echo.search(asked))
  await service.search({ ...asked, form: { tell: 'count' } })
  await service.search({ ...asked, format: 'csv' })
  await service.search({ ...asked, scroll: '1m' })
  await service.get({ ...asking, entity: 'tx', id: 'x' })
  await service.documents({ ...asking, wanted: [] })
  await service.suggest({ ...asking, q: 'a', size: 1 })
  await service.similar({ ...asking, kind: 'contract', id: 'a', size: 1 })
  assert.deepEqual(counted(metrics), {
    'search ok': 1,
    'count ok': 1,
    'csv ok': 1,
    'scroll ok': 1,
    'get ok': 1,
    'documents ok': 1,
    'suggest ok': 1,
    'similar ok': 1,
  })
  const [search] = metrics.snapshot().flatMap(one => (one.type === 'histogram' ? one.series : []))
  assert.deepEqual([search?.labels, search?.count], [{ kind: 'search' }, 1])
})

test('what goes wrong is counted by what it is, and thrown as it was', async () => {
  const faults: [outcome: string, error: Error][] = [
    ['refused', refuse('parsing_exception', 'no')],
    ['rejected', retry('es_rejected_execution_exception', 'later')],
    ['timed_out', retry('search_timeout_exception', 'too long')],
    ['failed', stop('store_damaged', 'damaged')],
    ['failed', new Error('a bug')],
    ['cancelled', new DOMException('gone', 'AbortError')],
  ]
  const metrics = createMetrics()
  for (const [, error] of faults) {
    const search: SearchService['search'] = () => Promise.reject(error)
    await assert.rejects(measureSearch({ ...echo, search }, createMetrics()).search(asked), found => found === error)
  }
  let next = 0
  const failing = measureSearch({ ...echo, search: () => Promise.reject(faults[next++]![1]) }, metrics)
  for (const _ of faults) await failing.search(asked).catch(() => {})
  assert.deepEqual(counted(metrics), {
    ...{ 'search refused': 1, 'search rejected': 1, 'search timed_out': 1, 'search failed': 2, 'search cancelled': 1 },
  })
})
