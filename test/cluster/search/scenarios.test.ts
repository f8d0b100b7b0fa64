import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withoutCluster } from '../../support/cluster-fill.ts'
import { bodyText, loadScenarios } from '../../support/scenarios.ts'
import { assertPromised } from '../promised.ts'
import { ask, type Both, REFUSED, setUp } from './support.ts'

describe('a cluster answers the scenarios as a store does', { skip: withoutCluster }, () => {
  let both: Both
  before(async () => {
    both = await setUp()
  })
  after(() => both?.close())

  for (const { file, cases } of loadScenarios())
    test(file, async () => {
      const refused: string[] = []
      for (const scenario of cases) {
        const { entities } = scenario.request
        const body = bodyText(scenario)
        const [answer, expected] = [await ask(both.cluster, entities, body), await ask(both.store, entities, body)]
        if (answer.includes(REFUSED)) refused.push(scenario.name)
        else if (!body?.includes('min_score')) assertPromised(answer, expected, scenario.name)
      }
      assert.deepEqual(refused, NOT_IN_CLUSTER[file] ?? [])
    })
})

/** Requests that a cluster is not asked, each refused by name: a new one is to be seen here. */
const NOT_IN_CLUSTER: Readonly<Record<string, readonly string[]>> = {
  '0020-patterns': [
    '{"regexp": {"event.raw": {"value": "~(Trans.*)"}}}',
    '{"regexp": {"event.raw": {"value": "[A-Z].*&.*[a-m]", "flags": "INTERSECTION"}}}',
  ],
}
