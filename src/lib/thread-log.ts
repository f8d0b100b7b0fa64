import { toFailure } from './failure.ts'
import type { Fields, Log } from './log.ts'

/** A line for the log, on its way to the thread that writes it. */
export interface LogMessage {
  type: 'log'
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  fields: Fields
}

/** The log of a thread: its lines are handed over by `tell`. */
export const createThreadLog = (tell: (message: LogMessage) => void, common: Fields = {}): Log => {
  const at = (level: LogMessage['level']) => (message: string, fields?: Fields) =>
    tell({ type: 'log', level, message, fields: plain({ ...common, ...fields }) })
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: fields => createThreadLog(tell, { ...common, ...fields }),
  }
}

/** Errors do not travel between threads with all that they say; of those that are bugs, where they came from matters. */
const plain = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? toFailure(value).message : value]),
  )
