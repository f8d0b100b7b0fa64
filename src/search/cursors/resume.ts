import { refuse } from '../../lib/errors.ts'
import type { ResumePoint, SearchRequest, Sort } from '../../query/request.ts'
import { decodeResume, encodeResume } from './state.ts'

/** What a reader sends that has no token yet: `start` from the first stored block, `now` from the next one on. */
const FIRST: ResumePoint = { place: { kind: 'block', position: -1 }, marks: [] }

export const resumePoint = (token: string, index: string): ResumePoint | 'now' => {
  if (token === 'start') return FIRST
  if (token === 'now') return 'now'
  const state = decodeResume(token)
  if (state && state.index === index) return state
  throw refuse(
    'illegal_argument_exception',
    state
      ? `resume: this token belongs to ${state.index}, not to ${index}.`
      : 'resume: this is not a token: write "start", "now", or the [resume.token] of the last answer.',
  )
}

/** The order of the chain. */
const CHAIN: Sort = { by: '_doc', fields: {}, order: 'asc', missing: '_last' }

/** The request with the point that its token stands for. */
export const resuming = (request: SearchRequest, index: string): SearchRequest => {
  const { resume, parts } = request
  if (typeof resume !== 'string') return request
  if (parts.length === 0)
    throw refuse('illegal_argument_exception', 'resume: there is no entity to follow: name one in the path.')
  return { ...request, sort: [CHAIN], resume: { point: resumePoint(resume, index) } }
}

/** What is told beside the hits. */
export const resumeMember = (
  { point, reorganisedFrom }: { point: ResumePoint; reorganisedFrom: number | undefined },
  index: string,
): string => {
  const token = encodeResume({ kind: 'resume', index, ...point })
  const from = reorganisedFrom === undefined ? '' : `,"reorganised_from":${reorganisedFrom}`
  return `,"resume":{"token":"${token}"${from}}`
}
