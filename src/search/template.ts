import { Yielded } from '../engine/query/search.ts'
import { refuse } from '../lib/errors.ts'
import type { Limits } from '../limits/index.ts'
import { parseExactJson } from '../query/json.ts'
import { bodyNode } from '../query/json-node.ts'
import { readTemplate } from '../query/template/request.ts'
import type { RenderedTemplate } from './service.ts'

/** Renders the template of a request body. */
export const renderTemplateBody = (
  body: Uint8Array,
  { limits, isJson, check }: { limits: Limits; isJson: boolean; check(): void },
): RenderedTemplate => {
  const { body: made, explain } = readTemplate(bodyNode(parseExactJson(decodeUtf8(body), limits)), limits, check)
  if (isJson) parseExactJson(made, limits)
  return { body: Buffer.from(made), explain }
}

/** The same, where it takes next to no time; undefined where a thread has to do it. */
export const renderShortly = (body: Uint8Array, options: Omit<Parameters<typeof renderTemplateBody>[1], 'check'>) => {
  if (body.length > SMALL_TEMPLATE) return undefined
  const until = performance.now() + SHORT_MS
  const check = () => {
    if (performance.now() > until) throw new Yielded('a template takes longer than the main thread has')
  }
  try {
    return renderTemplateBody(body, { ...options, check })
  } catch (error) {
    if (!(error instanceof Yielded)) throw error
    return undefined
  }
}

/** Bytes of a template that the main thread tries to render, and how long. */
const SMALL_TEMPLATE = 4_096
const SHORT_MS = 1

const decodeUtf8 = (body: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    throw refuse('parsing_exception', 'The body is not UTF-8.', error)
  }
}
