import type { Kind } from '../mapping/index.ts'
import { type Asker, type AskOptions, KEEP_ALIVE } from './asker.ts'
import { LACKS_REQUEST } from './faults.ts'

/** A state of indices that pages of a long answer are of. */
export interface PointInTime {
  id: string
  /** What closes it. */
  closing: { path: string; body: object }
}

/** Elasticsearch asks for it otherwise than OpenSearch does. */
export const openPoint = async (
  asker: Pick<Asker, 'send' | 'target'>,
  kinds: readonly Kind[],
  options: AskOptions,
): Promise<PointInTime> => {
  const query = { keep_alive: KEEP_ALIVE, ignore_unavailable: true }
  const open = async (path: string) =>
    JSON.parse(await asker.send({ method: 'POST', path: `/${asker.target(kinds)}/${path}`, query }, options)) as object
  try {
    const { pit_id: id } = (await open('_search/point_in_time')) as { pit_id: string }
    return { id, closing: { path: '/_search/point_in_time', body: { pit_id: [id] } } }
  } catch (error) {
    if ((error as { code?: unknown }).code !== LACKS_REQUEST) throw error
    const { id } = (await open('_pit')) as { id: string }
    return { id, closing: { path: '/_pit', body: { id } } }
  }
}

/** One that cannot be closed ends by itself. */
export const closePoint = (asker: Pick<Asker, 'send'>, { closing }: PointInTime): void => {
  asker.send({ method: 'DELETE', ...closing }, { deadline: Number.POSITIVE_INFINITY }).catch(() => {})
}
