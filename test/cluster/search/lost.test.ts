import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ClusterRequest } from '../../../src/cluster/connection/cluster.ts'
import { createClusterHealth } from '../../../src/cluster/indices/cluster-health.ts'
import { type Lacking, putIndex } from '../../../src/cluster/indices/indices.ts'
import { aliasOf, indexNameOf } from '../../../src/cluster/indices/names.ts'
import { indexBody } from '../../../src/cluster/indices/template.ts'
import { withoutCluster } from '../../support/cluster-fill.ts'
import { ask, type Both, setUp } from './support.ts'

describe('an index that no search reaches is told, and what is left of an answer is none', {
  skip: withoutCluster,
}, () => {
  let both: Both
  before(async () => {
    both = await setUp()
  })
  after(() => both?.close())

  const place = (kind: 'log' | 'call') => {
    const { naming, network } = both.filled
    return { index: indexNameOf(naming, network, kind, 0), alias: aliasOf(naming, network, kind) }
  }
  const send = async (request: ClusterRequest) => {
    const { status, text } = await both.filled.cluster.ask(request)
    assert.ok(status < 300, text)
  }
  let asked = 0
  /** Each time in other words, so that no answer is one that was kept. */
  const answers = async (entities: string, body = '{}') =>
    (await ask(both.cluster, entities, body + ' '.repeat(++asked))).slice(0, 300)
  const lost = () => {
    const { cluster, naming, network, visible } = both.filled
    return createClusterHealth(cluster, naming, network, () => visible.ranges)().then(({ lost }) => lost)
  }
  const LOST =
    /^cluster_unavailable: .*index \S+-log-000000, which holds documents of blocks \d+ to \d+, is gone, closed or without its alias\. Restore/

  it('without its alias, or closed', async () => {
    const { index, alias } = place('log')
    const whole = await answers('log')
    assert.match(whole, /^200 /)
    assert.deepEqual(await lost(), [])
    await send({ method: 'DELETE', path: `/${index}/_alias/${alias}` })
    for (const entities of ['log', 'tx,log']) assert.match(await answers(entities), LOST)
    assert.match(await answers('log', '{"size":-1}'), LOST)
    // Others are searched all the same.
    assert.match(await answers('tx'), /^200 /)
    assert.deepEqual(await lost(), [index])
    await send({ method: 'PUT', path: `/${index}/_alias/${alias}` })
    assert.equal(await answers('log'), whole)

    await send({ method: 'POST', path: `/${index}/_close` })
    assert.match(await answers('log'), LOST)
    await send({ method: 'POST', path: `/${index}/_open`, query: { wait_for_active_shards: '1' } })
    assert.equal(await answers('log'), whole)
  })

  it('gone, and created anew', async () => {
    const { index } = place('log')
    await send({ method: 'DELETE', path: `/${index}` })
    assert.match(await answers('log'), LOST)
    const { cluster, naming, network } = both.filled
    const body = (lacking: Lacking) => ({
      ...indexBody('log', network, naming, { lacking, byItself: true }),
      aliases: { [aliasOf(naming, network, 'log')]: {} },
    })
    await putIndex(cluster, `/${index}`, body, 'create an index')
    assert.match(await answers('log'), LOST)
    assert.deepEqual(await lost(), [index])
  })
})
