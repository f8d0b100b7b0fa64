import { isObject, type Json, type JsonObject, member, textAt } from '../../../api/json.ts'

/** Names from the outside in, of a field that is sent. */
export type Way = readonly string[]

export const keyOf = (way: Way): string => JSON.stringify(way)

/** The fields that a payload selects. */
export const waysOf = (payload: Json | undefined, before: Way = []): Way[] =>
  (Array.isArray(payload) ? payload : []).flatMap(item => {
    const way = [...before, textAt(item, 'fieldName') ?? '']
    return textAt(item, 'fieldType') === 'Sub Field' ? waysOf(member(item, 'subPayloads'), way) : [way]
  })

export const payloadOf = (ways: readonly Way[]): JsonObject[] => {
  const names = [...new Set(ways.map(([name = '']) => name))]
  return names.map((fieldName): JsonObject => {
    const below = ways.filter(way => way[0] === fieldName).map(way => way.slice(1))
    if (below.some(way => way.length === 0)) return { fieldType: 'Field', fieldName }
    return { fieldType: 'Sub Field', fieldName, subPayloads: payloadOf(below) }
  })
}

/** The members of a value that a payload can name; arguments go by their names. */
export const membersFor = (value: Json): [name: string, value: Json][] => {
  if (isObject(value)) return Object.entries(value)
  if (!Array.isArray(value)) return []
  return value.flatMap((item): [string, Json][] => {
    const name = textAt(item, 'name')
    const inner = member(item, 'value')
    return name === undefined || name === '' || inner === undefined ? [] : [[name, inner]]
  })
}

/** A field is added in place of what it holds, and taken out alone. */
export const toggle = (ways: readonly Way[], way: Way, chosen: boolean): Way[] => {
  const key = keyOf(way)
  const isWithin = (it: Way) => keyOf(it.slice(0, way.length)) === key
  const others = ways.filter(it => !isWithin(it))
  return chosen ? [...others, way] : others
}

export const MOST_LEVELS = 3
