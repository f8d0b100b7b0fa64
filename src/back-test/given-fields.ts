import { isRecord } from '../lib/arrays.ts'
import { type Field, isListField, type Kind, type ListField, MAPPING } from '../mapping/index.ts'
import type { InputPlace } from '../rules/input.ts'

/** Refuses values of a given document that would break the comparison with a condition. */
export const checkGivenFields = (source: InputPlace, kind: Kind): void => checkFields(source, MAPPING[kind].fields)

/** The same of a reading of state. */
export const checkGivenReading = (source: InputPlace): void => {
  const { value, blockNumber } = MAPPING.tx.fields
  checkFields(source, { value: value!, blockNumber: blockNumber! })
  const result = source.member('result')
  if (Array.isArray(result.value)) for (const i of result.value.keys()) checkArgument(result.element(i))
}

const checkFields = (object: InputPlace, fields: Readonly<Record<string, Field | ListField>>) => {
  for (const [path, field] of Object.entries(fields)) {
    const place = path.split('.').reduce((at, name) => at.member(name), object)
    if (!isListField(field)) checkGivenValue(place, field)
    else if (Array.isArray(place.value))
      for (const i of place.value.keys()) {
        const element = place.element(i)
        if (field.list === 'nested') checkArgument(element)
        else checkFields(element, field.members as Record<string, Field>)
      }
  }
}

const checkGivenValue = ({ value, label, fault }: InputPlace, { kind }: Field) => {
  if (value === null || value === undefined) return
  if (WITH_RAW.has(kind) && !(isRecord(value) && RAW_INTEGER.test(String(value.raw)))) {
    const num = isRecord(value) ? value.num : value
    const raw = Number.isSafeInteger(num) && Number(num) >= 0 ? `0x${Number(num).toString(16)}` : '0x5'
    fault(`${label} must have its integer as "raw", as searches return it: {"raw": "${raw}"}.`)
  }
  if (kind === 'datetime' && !Number.isFinite(Date.parse(`${value}Z`)))
    fault(`${label} must be a date in UTC, as searches return it: "2026-01-31T12:00:00".`)
}

const WITH_RAW: ReadonlySet<string> = new Set(['quantity', 'wide', 'amount'])
const RAW_INTEGER = /^(0x[0-9a-f]+|\d+)$/i

const checkArgument = (argument: InputPlace) => {
  if (!isRecord(argument.value))
    return argument.fault(`${argument.label} must be an argument with "name", "pos" and "value".`)
  const { value, label, fault } = argument.member('value')
  const { type, hex } = isRecord(value) ? value : {}
  const digits = typeof type === 'string' && /^(bool|u?int\d+)$/.test(type) ? /^0x[0-9a-f]+$/i : /^0x[0-9a-f]*$/i
  if (typeof type !== 'string' || typeof hex !== 'string' || !digits.test(hex))
    fault(
      `${label} must have the argument's "type" and "hex", as searches return it: {"type": "uint256", "hex": "0x05"}.`,
    )
}
