import type { Context, Handler } from './context.ts'
import { EVERYWHERE, type Operation, type Tag } from './openapi/operations.ts'
import { type Answers, answer, ref, type Schema } from './openapi/schema.ts'
import { readParameters } from './request.ts'

/** One method of a path outside of `…/es`: its description, and what answers it. */
export interface Route<Services> extends Operation {
  handler(services: Services): Handler
}

type About<Q extends string> = Partial<Pick<Operation, 'open' | 'values' | 'headers' | 'body'>> & {
  /** URL parameters that it takes beside those that clients send everywhere. */
  query?: readonly Q[]
  /** All that are described, where that are not the ones that clients send everywhere. */
  described?: readonly string[]
  /** All of them, or the name of the schema of the one with status 200. */
  answers: string | Answers
}

/** Makes routes of one part of the description, which are answered by the same services. */
export const routesOf =
  <Services>(tag: Tag) =>
  <const Q extends string = never>(
    method: Operation['method'],
    path: string,
    doc: string,
    { query = [], described = [...query, ...EVERYWHERE], answers, ...about }: About<Q>,
    /** `parameters` reads those of the URL, of which it refuses unknown ones. */
    handler: (services: Services, parameters: (c: Context) => Partial<Record<Q, string>>) => Handler,
  ): Route<Services> => ({
    ...{ method, path, tag, doc, query: described, ...about },
    answers: typeof answers === 'string' ? { 200: answer(ref(answers)) } : answers,
    handler: services => handler(services, c => readParameters(c, query)),
  })

/** A body of JSON. */
export const jsonBody = (schema: Schema, example: unknown, required = true) => ({ schema, example, required })
