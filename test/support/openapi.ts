import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { DescribedResponse, OpenApi } from '../../src/http/description.ts'

const COMPONENT = '#/components/responses/'

/** An answer that an operation describes, also where it shares it with others. */
export const responseOf = (
  { components }: OpenApi,
  response: DescribedResponse | { $ref: string },
): DescribedResponse => ('$ref' in response ? components.responses[response.$ref.slice(COMPONENT.length)]! : response)

/** Checks values against the schemas of a description; what is wrong, in words, or undefined. */
export const createChecker = (api: OpenApi) => {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false })
  ajv.addSchema(api, 'api')
  const known = new Map<string, ValidateFunction>()
  const at = (pointer: string) => {
    const found = known.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` })
    known.set(pointer, found)
    return found
  }
  const fault = (pointer: string, value: unknown): string | undefined => {
    const check = at(pointer)
    return check(value) ? undefined : `${pointer}: ${ajv.errorsText(check.errors as ErrorObject[])}`
  }
  const step = (text: string) => text.replaceAll('~', '~0').replaceAll('/', '~1')
  return {
    schema: (name: string, value: unknown) => fault(`/components/schemas/${name}`, value),
    body: (path: string, method: string, value: unknown, type = 'application/json') =>
      fault(`/paths/${step(path)}/${method}/requestBody/content/${step(type)}/schema`, value),
    answer(path: string, method: string, status: number | 'default', value: unknown, type = 'application/json') {
      const response = api.paths[path]![method]!.responses[status]!
      const place = '$ref' in response ? response.$ref.slice(1) : `/paths/${step(path)}/${method}/responses/${status}`
      return fault(`${place}/content/${step(type)}/schema`, value)
    },
  }
}
