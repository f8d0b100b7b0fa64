import { refuse } from '../../lib/errors.ts'
import { parseJson } from '../json.ts'
import { bodyNode, known, string, unexpected, where } from '../json-node.ts'
import type { Clause } from './clause.ts'

export const wrapper: Clause = {
  doc: 'A clause as JSON in Base64.',
  example: { query: 'eyJ0ZXJtIjp7ImV2ZW50IjoidHJhbnNmZXIifX0=' },
  lower(place, scope, inner) {
    const { query } = known(place, 'an object with [query]', ['query'])
    if (query === undefined) throw unexpected(place, 'an object with [query], a clause in Base64')
    const text = scope.budget.text(string(query, 'a clause in Base64'), query)
    if (!BASE64.test(text))
      throw refuse('illegal_argument_exception', `${where(query)}: [wrapper] expected JSON in Base64.`)
    const { limits } = scope.budget
    const { value } = bodyNode(parseJson(Buffer.from(text, 'base64').toString(), limits))
    return inner({ path: query.path, value }, scope)
  },
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
