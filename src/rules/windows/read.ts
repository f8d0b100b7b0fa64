import type { ComparedValue } from '../../query/compare.ts'
import { showExact, simplifyExact } from '../../query/exact.ts'
import type { WindowValue } from '../../windows/entries.ts'
import { measuresOf, type WindowMeasure } from '../../windows/spec.ts'
import { canonicalKey, keptText } from '../../windows/window.ts'
import { attributeSteps } from '../attributes.ts'
import { type Entity, type EntityValues, entityValues } from '../entities.ts'
import { lacksDecimals } from '../match-group.ts'
import { kindOfTarget, type RuleConfig } from '../rule.ts'

/** Reads of a match what its windows take. */
export interface MatchReader {
  measures: readonly WindowMeasure[]
  /** Whether decimals are missing that the values need. */
  waits(entity: Entity): boolean
  key(entity: Entity): string
  values(entity: Entity, measure: number): readonly WindowValue[]
}

export const createMatchReader = ({ targetType, when }: RuleConfig): MatchReader => {
  const kind = kindOfTarget(targetType)
  const measures = measuresOf(when!)
  const fields = new Map<string, Field>()
  const fieldOf = (name: string): Field => {
    const known = fields.get(name)
    if (known) return known
    const steps = attributeSteps(kind, [name])
    // Amounts in units of their token are read as conditions with `useScaledValue` are.
    const scaled = steps.length === 3 && steps[0] === 'args' && steps[2] === 'scaled'
    const source = entityValues(kind, scaled ? steps.slice(0, 2) : steps, scaled)
    const argument = steps[0] === 'args' ? steps[1] : undefined
    const field = { source, scaled, argument }
    fields.set(name, field)
    return field
  }
  const by = (when!.by ?? []).map(fieldOf)
  const of = measures.map(({ name }) => fieldOf(name))
  const scaled = [...fields.values()].filter(field => field.scaled)
  return {
    measures,
    waits: entity => scaled.some(({ source }) => lacksDecimals(source, entity)),
    key: entity => (by.length === 0 ? '[]' : JSON.stringify(by.map(field => faceText(field.source.faces(entity)[0])))),
    values(entity, measure) {
      const field = of[measure]!
      return field.source.faces(entity).map(face => ({
        text: faceText(face)!,
        number: face.number,
        unsigned: field.argument === undefined || isUnsigned(entity, field.argument),
      }))
    },
  }
}

interface Field {
  source: EntityValues
  scaled: boolean
  /** Name or position of an argument. */
  argument: string | undefined
}

const faceText = (face: ComparedValue | undefined): string | null => {
  if (face === undefined) return null
  if (face.hex) return canonicalKey(face.text)
  return face.number && !/^(true|false)$/.test(face.text) ? showExact(simplifyExact(face.number)) : keptText(face.text)
}

const isUnsigned = ({ decoded }: Entity, name: string): boolean => {
  const args = decoded?.args ?? []
  const arg = args.find(it => it.name === name) ?? args[Number(name)]
  return arg?.type.startsWith('uint') === true
}
