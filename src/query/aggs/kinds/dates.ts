import { refuse } from '../../../lib/errors.ts'
import { type JsonNode, where } from '../../json-node.ts'
import type { Values } from '../ast.ts'

export const requireDate = (place: JsonNode, values: Values): Values => {
  if (values.type === 'date') return values
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: this aggregation needs a field with dates, such as timestamp, not one of type [${values.type}].`,
  )
}
