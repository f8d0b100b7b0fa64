import type { AlertState } from '../../alerts/alert.ts'
import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/nearest.ts'
import { listOf } from '../../rules/place.ts'
import type { Handler } from '../context.ts'
import { json } from '../json.ts'
import { alertState } from '../shapes/rules.ts'
import { readParameters, ruleOf } from './request.ts'
import type { Alerting } from './service.ts'

/** `GET /alerting/rules/<id>/alerts/?size=&before=&state=`: what it matched and what became of each, the newest first. */
export const listAlerts =
  (alerting: Alerting): Handler =>
  async c => {
    const rule = ruleOf(c, alerting)
    const { size, before, state } = readParameters(c, ['size', 'before', 'state'])
    return json(await alerting.service.alerts(rule, { size: sizeOf(size), before, state: stateOf(state) }))
  }

const DEFAULT_SIZE = 20
const MOST = 1_000

/** How many one page of a list has. */
export const sizeOf = (text: string | undefined): number => {
  if (text === undefined) return DEFAULT_SIZE
  const size = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= MOST) return size
  throw refuse(
    'illegal_argument_exception',
    `The URL parameter [size] must be an integer from 1 to ${MOST}, not ${JSON.stringify(text)}.`,
  )
}

const STATES = alertState.options

const stateOf = (text: string | undefined): AlertState | undefined => {
  if (text === undefined || STATES.includes(text as AlertState)) return text as AlertState | undefined
  throw refuse(
    'illegal_argument_exception',
    `The URL parameter [state] must be ${listOf(STATES, 'or')}, not ${JSON.stringify(text)}.${didYouMean(text, STATES)}`,
  )
}
