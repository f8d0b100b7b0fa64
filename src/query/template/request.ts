import { refuse } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import { textOfJson } from '../json.ts'
import {
  boolean,
  isObject,
  type JsonNode,
  known,
  named,
  object,
  scalar,
  string,
  unexpected,
  where,
} from '../json-node.ts'
import { renderTemplate } from './render.ts'

/** What a template makes of its parameters, and what is to be told of what it finds. */
export interface Rendered {
  body: string
  explain: boolean
}

/** `{"source": …, "params": {…}}`. Templates are sent along: none are stored. */
export const readTemplate = (place: JsonNode, limits: Limits, check?: () => void): Rendered => {
  const keys = known(place, 'an object such as {"source": {"query": {"match_all": {}}}, "params": {}}', KEYS, [])
  if (keys.id)
    throw refuse(
      'illegal_argument_exception',
      `${where(keys.id)}: unable to find script ${named(scalar(keys.id, 'a name'))}: templates are not stored here. Send it as [source].`,
    )
  if (keys.lang && string(keys.lang, '"mustache"') !== 'mustache') throw unexpected(keys.lang, '"mustache"')
  if (keys.profile && boolean(keys.profile)) throw unexpected(keys.profile, 'no [profile], which is not supported')
  const { source } = keys
  if (source === undefined || source.value === '' || source.value === null)
    throw refuse(
      'action_request_validation_exception',
      'Validation Failed: 1: template is missing: send it as [source];',
    )
  const text = isObject(source.value) ? textOfJson(source.value) : string(source, 'a template, as text or as an object')
  const params =
    keys.params === undefined || keys.params.value === null
      ? new Map()
      : object(keys.params, 'an object with values by name')
  return {
    body: renderTemplate(text, params, limits, check),
    explain: keys.explain !== undefined && boolean(keys.explain),
  }
}

const KEYS = ['source', 'params', 'id', 'lang', 'explain', 'profile'] as const
