import { type ComparedDocument, type ComparedValue, facesAt } from '../../query/compare.ts'
import { showExact, simplifyExact } from '../../query/exact.ts'
import { type MatchValues, type ReadMatch, readMatch, type WindowValue } from '../../windows/entries.ts'
import { measuresOf, type WindowMeasure, type WindowSpec } from '../../windows/spec.ts'
import { canonicalKey, keptText } from '../../windows/window.ts'
import { attributeSteps } from '../attributes.ts'
import { type Entity, type EntityValues, entityDocument, entityValues } from '../entities.ts'
import { lacksDecimals } from '../match-group.ts'
import { kindOfTarget, type TargetType } from '../rule.ts'

/** Reads of a match what its windows take. */
export interface MatchReader {
  measures: readonly WindowMeasure[]
  /** Whether decimals are missing that the values need. */
  waits(entity: Entity): boolean
  key(entity: Entity): string
  of: MatchValues<Entity>
  /** The same one for all rules. */
  read(entity: Entity): ReadMatch<Entity>
}

/** What decides of how matches are read. */
export interface MatchShape {
  /** Equal for equal shapes. */
  name: string
  kind: Entity['kind']
  by: readonly string[]
  measures: readonly WindowMeasure[]
}

export const matchShape = (targetType: TargetType, when: Pick<WindowSpec, 'by'> & Partial<WindowSpec>): MatchShape => {
  const kind = kindOfTarget(targetType)
  const { by = [] } = when
  const measures = measuresOf({ conditions: [], ...when })
  return { name: JSON.stringify([kind, by, measures]), kind, by, measures }
}

/** Makes readers for rules that look at the same entities: each value is read once for all of them. */
export const createMatchReaders = () => {
  const fields = new Map<string, Field>()
  const readers = new Map<string, MatchReader>()
  const create = ({ kind, by, measures }: MatchShape): MatchReader => {
    const fieldOf = (name: string): Field => {
      const known = fields.get(`${kind} ${name}`) ?? createField(kind, name)
      fields.set(`${kind} ${name}`, known)
      return known
    }
    const all = measures.map(({ name }) => fieldOf(name))
    const keyFields = by.map(fieldOf)
    const scaled = [...new Set([...keyFields, ...all])].filter(field => field.isScaled)
    const key = (entity: Entity) => JSON.stringify(keyFields.map(field => field.text(entity)))
    const of: MatchValues<Entity> = {
      id: entity => entityDocument(entity)!._id,
      values: (entity, measure) => all[measure]!.values(entity),
    }
    const waits = (entity: Entity) => scaled.some(field => field.waits(entity))
    return { measures, waits, key, of, read: ofEntity(entity => readMatch(measures, of, key(entity), entity)) }
  }
  return (shape: MatchShape): MatchReader => {
    const known = readers.get(shape.name) ?? create(shape)
    readers.set(shape.name, known)
    return known
  }
}

interface Field {
  isScaled: boolean
  waits(entity: Entity): boolean
  /** Of the first value; null without one. */
  text(entity: Entity): string | null
  values(entity: Entity): readonly WindowValue[]
}

const createField = (kind: Entity['kind'], name: string): Field => {
  const { steps, isScaled, argument } = stepsOfName(kind, name)
  const source: EntityValues = entityValues(kind, steps, isScaled)
  return {
    isScaled,
    waits: ofEntity(entity => lacksDecimals(source, entity)),
    text: entity => faceText(source.faces(entity)[0]),
    values: ofEntity(entity => windowValuesOf(source.faces(entity), argument, entity.decoded?.args)),
  }
}

/** Amounts in units of their token are read as conditions with `useScaledValue` are. */
const stepsOfName = (kind: Entity['kind'], name: string) => {
  const steps = attributeSteps(kind, [name])
  const isScaled = steps.length === 3 && steps[0] === 'args' && steps[2] === 'scaled'
  const argument = steps[0] === 'args' ? steps[1] : undefined
  return { steps: isScaled ? steps.slice(0, 2) : steps, isScaled, argument }
}

/** The same of stored documents, with their decoding where they have one. */
export const createDocumentReader = <D extends ComparedDocument & { _id: string }>(
  targetType: TargetType,
  when: Pick<WindowSpec, 'by'> & Partial<WindowSpec>,
): Pick<MatchReader, 'measures'> & { key(document: D): string; of: MatchValues<D> } => {
  const kind = kindOfTarget(targetType)
  const fieldOf = (name: string) => {
    const { steps, isScaled, argument } = stepsOfName(kind, name)
    return { faces: facesAt(steps, isScaled, kind), argument }
  }
  const measures = measuresOf({ conditions: [], ...when })
  const by = (when.by ?? []).map(fieldOf)
  const of = measures.map(({ name }) => fieldOf(name))
  return {
    measures,
    key: document => JSON.stringify(by.map(({ faces }) => faceText(faces(document)[0]))),
    of: {
      id: ({ _id }) => _id,
      values(document, measure) {
        const { faces, argument } = of[measure]!
        const args = (document._source.args ?? []) as { name: string; value: { type: string } }[]
        return windowValuesOf(
          faces(document),
          argument,
          argument === undefined ? [] : args.map(({ name, value: { type } }) => ({ name, type })),
        )
      },
    },
  }
}

const windowValuesOf = (
  faces: readonly ComparedValue[],
  argument: string | undefined,
  args: readonly { name: string; type: string }[] | null | undefined,
): WindowValue[] => {
  const unsigned = argument === undefined || isUnsigned(args ?? [], argument)
  return faces.map(face => ({ text: faceText(face)!, number: face.number, unsigned }))
}

/** Entities are matched with all rules one after the other: what was read of the last one is kept. */
const ofEntity = <T>(read: (entity: Entity) => T): ((entity: Entity) => T) => {
  let stamp = 0
  let found: T
  return entity => {
    if (entity.stamp !== stamp) {
      found = read(entity)
      stamp = entity.stamp
    }
    return found
  }
}

const faceText = (face: ComparedValue | undefined): string | null => {
  if (face === undefined) return null
  if (face.hex) return canonicalKey(face.text)
  return face.number && !/^(true|false)$/.test(face.text) ? showExact(simplifyExact(face.number)) : keptText(face.text)
}

const isUnsigned = (args: readonly { name: string; type: string }[], name: string): boolean =>
  (args.find(it => it.name === name) ?? args[Number(name)])?.type.startsWith('uint') === true
