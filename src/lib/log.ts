import { inspect } from 'node:util'
import { ChainsieveError, toTransferredError } from './errors.ts'
import { redact } from './secret.ts'

export type LogFields = Record<string, unknown>

/** Messages are fixed and in the past tense; variables are fields: `info('Stored', { blocks })`. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Returns a log that adds fields to every line. */
  with(fields: LogFields): Log
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
type Level = (typeof LOG_LEVELS)[number]

export interface LogOptions {
  /** Takes one line without its line feed. */
  write(line: string): void
  /** JSON lines instead of text. */
  json: boolean
  /** Drops lines below this level; default `info`. */
  level?: Level
  now?: () => Date
}

export const createLog = ({ write, json, level = 'info', now = () => new Date() }: LogOptions): Log => {
  const render = json ? jsonLine : textLine
  const least = LOG_LEVELS.indexOf(level)
  const at = (common: LogFields): Log => {
    const line = (level: Level) => (message: string, fields?: LogFields) => {
      if (LOG_LEVELS.indexOf(level) >= least) write(render(now(), level, message, { ...common, ...fields }))
    }
    return {
      debug: line('debug'),
      info: line('info'),
      warn: line('warn'),
      error: line('error'),
      with: fields => at({ ...common, ...fields }),
    }
  }
  return at({})
}

/** Discards all lines. */
export const silent: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silent,
}

const jsonLine = (time: Date, level: Level, message: string, fields: LogFields): string =>
  redact(JSON.stringify({ time: time.toISOString(), level, message, ...plainFields(fields) }))

const textLine = (time: Date, level: Level, message: string, fields: LogFields): string => {
  const parts = Object.entries(plainFields(fields)).map(([name, value]) => `${name}=${textValue(value)}`)
  return redact([time.toISOString(), level.padEnd(5), message, ...parts].join(' '))
}

/** Names of secret fields. */
const SECRET_NAME = /^(authorization|cookie|password|secret|token|api_?key|private_?key)$/i

const plainFields = (fields: LogFields): LogFields => {
  const plain: LogFields = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) plain[name] = plainValue(name, value)
  }
  return plain
}

/** Logs known errors as messages and bugs as stacks. */
const plainValue = (name: string, value: unknown): unknown => {
  if (SECRET_NAME.test(name)) return '[secret]'
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof ChainsieveError) return describeError(value)
  if (value instanceof Error) return value.stack ?? String(value)
  if (typeof value !== 'object' || value === null) return value
  try {
    return JSON.parse(
      JSON.stringify(value, (inner, part) =>
        part === value || typeof part === 'object' ? part : plainValue(inner, part),
      ),
    )
  } catch {
    return inspect(value, { depth: 2, breakLength: Number.POSITIVE_INFINITY })
  }
}

/** The message of an error, with those of its causes. */
export const describeError = (error: Error): string => {
  const cause = error.cause instanceof Error ? describeError(error.cause) : ''
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message} (${cause})`
}

// Quotes values that look like two fields or could forge a line.
const textValue = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return typeof value === 'string' && !/^[\w.:/@+[\]-]+$/.test(text) ? JSON.stringify(text) : text
}

export interface LogMessage {
  type: 'log'
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  fields: LogFields
}

/** Log of a thread, which sends its lines to the main thread. */
export const createThreadLog = (tell: (message: LogMessage) => void, common: LogFields = {}): Log => {
  const at = (level: LogMessage['level']) => (message: string, fields?: LogFields) =>
    tell({ type: 'log', level, message, fields: plainThreadFields({ ...common, ...fields }) })
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: fields => createThreadLog(tell, { ...common, ...fields }),
  }
}

/** Errors do not transfer completely; bugs retain their stack. */
const plainThreadFields = (fields: LogFields): LogFields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? toTransferredError(value).message : value,
    ]),
  )
