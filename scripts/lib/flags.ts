import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { messageOf, refuse } from '../../src/lib/errors.ts'

/** Kinds of flags, for `readFlags`. */
export const TEXT = { type: 'string' } as const
export const SEVERAL = { type: 'string', multiple: true } as const
export const SWITCH = { type: 'boolean', default: false } as const
export const byDefault = (value: string) => ({ type: 'string', default: value }) as const
export const PROGRAM = byDefault('dist/chainsieve.mjs')

/** The flags of a script; `--help` prints its usage and ends it. */
export const readFlags = <const O extends ParseArgsOptionsConfig>(usage: string, options: O) => {
  if (process.argv.includes('--help')) {
    console.log(usage)
    process.exit()
  }
  return parseArgs({ options }).values
}

/** The whole number that a flag holds. */
export const wholeNumber = (name: string, text: string, least = 0): number => {
  if (/^\d{1,16}$/.test(text) && Number(text) >= least) return Number(text)
  const above = least > 0 ? ` from ${least} on` : ''
  throw refuse('bad_option', `--${name} must be a whole number${above}, not ${JSON.stringify(text)}`)
}

/** Path of the built program that `--program` names. */
export const builtProgram = (path: string): string => {
  const program = resolve(path)
  if (existsSync(program)) return program
  throw refuse('no_program', `${path} is not there: build it by npm run build, or name another by --program`)
}

/** Runs a script and ends it: with 1 where it returns false, with 2 where it fails. */
export const runMain = (main: () => Promise<unknown>): void =>
  void main().then(
    isGood => process.exit(isGood === false ? 1 : 0),
    error => {
      console.error(messageOf(error))
      process.exit(2)
    },
  )
