import { refuse } from '../lib/errors.ts'
import type { Limits } from '../limits/index.ts'
import { parseJson } from '../query/json.ts'
import { bodyNode } from '../query/json-node.ts'
import { readTemplate } from '../query/template/request.ts'
import type { RenderedTemplate } from './service.ts'

/** What a template makes, of a body as it was sent. */
export const renderBody = (
  body: Uint8Array,
  { limits, isJson, check }: { limits: Limits; isJson: boolean; check(): void },
): RenderedTemplate => {
  const { body: made, explain } = readTemplate(bodyNode(parseJson(textOf(body), limits)), limits, check)
  if (isJson) parseJson(made, limits)
  return { body: Buffer.from(made), explain }
}

const textOf = (body: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    throw refuse('parsing_exception', 'The body is not UTF-8.', error)
  }
}
