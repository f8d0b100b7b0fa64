import { createEventDecoder } from './abi-decoder.ts'
import { type CallDecoder, createCallDecoder } from './calls.ts'
import { createEventDeclarations, createFunctionDeclarations, type LinksOf, type OwnAbi } from './declarations.ts'
import type { Functions } from './functions.ts'
import { createLogDecoder, type LogDecoder } from './logs.ts'
import type { Registry } from './registry.ts'
import { createRevertDecoder, type Errors, type RevertDecoder } from './reverts.ts'

/** Decoders with the ABIs of one moment. */
export interface Decoding {
  log: LogDecoder
  call: CallDecoder
  revert: RevertDecoder
  /** Name of the function that call data selects at a position of the chain, or null. */
  methodOf(input: string, to: string, at: number): string | null
}

export const createDecoding = (
  registry: Registry,
  functions: Pick<Functions, 'find'>,
  errors: Errors,
  own: readonly OwnAbi[],
  linksOf?: LinksOf,
): Decoding => {
  const called = createFunctionDeclarations(functions, own, linksOf)
  return {
    log: createLogDecoder({ ...createEventDeclarations(registry, own, linksOf), compile: createEventDecoder }),
    call: createCallDecoder(called),
    revert: createRevertDecoder(errors, own, linksOf),
    methodOf(input, to, at) {
      const selector = input.slice(0, 10).toLowerCase()
      const special = called.own?.(to, selector, at)
      return (special?.length ? special : called.find(selector))[0]?.function.name ?? null
    },
  }
}
