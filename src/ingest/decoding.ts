import { createEventDecoder } from '../decode/abi.ts'
import { createCallDecoder, type DecodedCall } from '../decode/calls.ts'
import { createDeclarations, createFunctionDeclarations, type OwnAbi } from '../decode/declarations.ts'
import type { Functions } from '../decode/functions.ts'
import { createLogDecoder, type LogDecoder } from '../decode/logs.ts'
import type { Registry } from '../decode/registry.ts'

/** What logs, calls and transactions mean by the ABIs of one moment. */
export interface Decoding {
  log: LogDecoder
  call(to: string, input: string): DecodedCall
  /** Name of the function of a contract that call data names, or null. */
  methodOf(input: string, to: string): string | null
}

export const createDecoding = (
  registry: Registry,
  functions: Pick<Functions, 'find'>,
  own: readonly OwnAbi[],
): Decoding => {
  const called = createFunctionDeclarations(functions, own)
  return {
    log: createLogDecoder({ ...createDeclarations(registry, own), compile: createEventDecoder }),
    call: createCallDecoder(called),
    methodOf(input, to) {
      const selector = input.slice(0, 10).toLowerCase()
      const special = called.own?.(to, selector, Number.POSITIVE_INFINITY)
      return (special?.length ? special : called.find(selector))[0]?.function.name ?? null
    },
  }
}
