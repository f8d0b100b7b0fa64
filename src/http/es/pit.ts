import { refuse } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import type { OpenedPit, PitOpening, SearchService } from '../../search/service.ts'
import { askedBy, type Context, type Handler } from '../context.ts'
import { json } from '../json.ts'
import { networkOf, readKeys, textOf, textsOf } from './cursor-request.ts'
import { checkParameters, targetOf } from './path.ts'

const SHARDS = { total: 1, successful: 1, skipped: 0, failed: 0 }

const opened = async (
  c: Context,
  service: SearchService,
  limits: Limits,
  dialect: PitOpening['dialect'],
): Promise<OpenedPit> => {
  const { network, entities } = targetOf(c, service)
  checkParameters(c, ['keep_alive', 'allow_partial_pit_creation'])
  // Some clients send an empty object.
  await readKeys(c, limits, [])
  const keepAlive = c.req.query('keep_alive')
  if (!keepAlive)
    throw refuse(
      'action_request_validation_exception',
      'Validation Failed: 1: keep alive not specified; write ?keep_alive=1m.',
    )
  return service.cursors.openPit({ network, entities, keepAlive, dialect, ...askedBy(c) })
}

/** `POST …/es/<entity>/_pit?keep_alive=1m`: opens a point in time, as Elasticsearch does. */
export const openPit =
  (service: SearchService, limits: Limits): Handler =>
  async c =>
    json({ id: (await opened(c, service, limits, 'elasticsearch')).id })

/** `DELETE …/es/_pit`: closes it. */
export const closePit =
  (service: SearchService, limits: Limits): Handler =>
  async c => {
    const network = networkOf(c, service)
    checkParameters(c)
    const id = textOf((await readKeys(c, limits, ['id'])).get('id'), 'id')
    if (!id) throw refuse('illegal_argument_exception', 'search context id is is not provided: write {"id": "…"}.')
    const { account } = askedBy(c)
    const freed = service.cursors.close({ network, account, kind: 'pit', ids: [id] })
    return json({ succeeded: freed.length > 0, num_freed: freed.length }, freed.length > 0 ? 200 : 404)
  }

/** `POST …/es/<entity>/_search/point_in_time?keep_alive=1m`: the same as OpenSearch does it. */
export const openPointInTime =
  (service: SearchService, limits: Limits): Handler =>
  async c => {
    const { id, opened: creation_time } = await opened(c, service, limits, 'opensearch')
    return json({ pit_id: id, _shards: SHARDS, creation_time })
  }

/** `DELETE …/es/_search/point_in_time`: closes several. */
export const closePointsInTime =
  (service: SearchService, limits: Limits): Handler =>
  async c => {
    const network = networkOf(c, service)
    checkParameters(c)
    const ids = textsOf((await readKeys(c, limits, ['pit_id'])).get('pit_id'), 'pit_id')
    if (ids.length === 0)
      throw refuse('action_request_validation_exception', 'Validation Failed: 1: no pit ids specified;')
    const { account } = askedBy(c)
    service.cursors.close({ network, account, kind: 'pit', ids })
    // As in OpenSearch, what was closed already is closed as well.
    return json({ pits: ids.map(pit_id => ({ successful: true, pit_id })) })
  }

/** `DELETE …/es/_search/point_in_time/_all`: closes all of the account's. */
export const closeAllPointsInTime =
  (service: SearchService): Handler =>
  c => {
    const network = networkOf(c, service)
    checkParameters(c)
    const { account } = askedBy(c)
    const freed = service.cursors.close({ network, account, kind: 'pit', ids: 'all' })
    return json({ pits: freed.map(pit_id => ({ successful: true, pit_id })) })
  }

/** `GET …/es/_search/point_in_time/_all`: those of the account. */
export const listPointsInTime =
  (service: SearchService): Handler =>
  c => {
    const network = networkOf(c, service)
    checkParameters(c)
    const { account } = askedBy(c)
    const pits = service.cursors.pits({ network, account })
    return json({
      pits: pits.map(({ id, opened, keepAliveMs }) => ({ pit_id: id, creation_time: opened, keep_alive: keepAliveMs })),
    })
  }
