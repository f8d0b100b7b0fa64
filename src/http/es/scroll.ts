import { refuse } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Limits } from '../../limits/index.ts'
import type { SearchService } from '../../search/service.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy, type Handler } from '../context.ts'
import { json } from '../json.ts'
import { networkOf, readKeys, textOf, textsOf } from './cursor-request.ts'
import { checkParameters } from './path.ts'

/** `POST …/es/_search/scroll`, and GET: the next page. The id is in the body, the URL or, as it once was, in the path. */
export const scroll =
  (service: SearchService, limits: Limits, log: Log): Handler =>
  async c => {
    const network = networkOf(c, service)
    checkParameters(c, ['scroll', 'scroll_id'])
    const body = await readKeys(c, limits, ['scroll_id', 'scroll'])
    const id = textOf(body.get('scroll_id'), 'scroll_id') ?? c.req.query('scroll_id') ?? c.req.param('id')
    if (!id) throw invalid('scrollId is missing')
    const keepAlive = textOf(body.get('scroll'), 'scroll') ?? c.req.query('scroll')
    return sendAnswer(c, log, await service.cursors.scroll({ network, id, scroll: keepAlive, ...askedBy(c) }))
  }

/** `DELETE …/es/_search/scroll`: closes those that are named, by one id or several, or all of the account's. */
export const clearScroll =
  (service: SearchService, limits: Limits): Handler =>
  async c => {
    const network = networkOf(c, service)
    checkParameters(c, ['scroll_id'])
    const body = await readKeys(c, limits, ['scroll_id'])
    const named = [...textsOf(body.get('scroll_id'), 'scroll_id')]
    const others = [c.req.query('scroll_id'), c.req.param('id')].flatMap(text => text?.split(',') ?? [])
    const ids = named.length > 0 ? named : others
    if (ids.length === 0) throw invalid('no scroll ids specified')
    const isAll = ids.includes('_all')
    const { account } = askedBy(c)
    const freed = service.cursors.close({ network, account, kind: 'scroll', ids: isAll ? 'all' : ids })
    return json({ succeeded: true, num_freed: freed.length }, freed.length > 0 || isAll ? 200 : 404)
  }

const invalid = (why: string) => refuse('action_request_validation_exception', `Validation Failed: 1: ${why};`)
