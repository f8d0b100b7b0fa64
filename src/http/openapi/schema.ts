/** A JSON Schema (2020-12), as OpenAPI 3.1 has them. */
export interface Schema {
  readonly [keyword: string]: unknown
}

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

export const text = { type: 'string' } as const
export const flag = { type: 'boolean' } as const
export const whole = { type: 'integer' } as const
export const number = { type: 'number' } as const

export const orNull = (schema: Schema & { type: string }): Schema => ({ ...schema, type: [schema.type, 'null'] })
export const listOf = (items: Schema): Schema => ({ type: 'array', items })
export const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values })
export const oneOf = (values: readonly (string | number)[]): Schema => ({ enum: values })
export const described = (description: string, schema: Schema): Schema => ({ ...schema, description })

/** An object that has all of `required`, may have `optional`, and nothing else. */
export const closed = (required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema => ({
  type: 'object',
  properties: { ...required, ...optional },
  ...(Object.keys(required).length > 0 && { required: Object.keys(required) }),
  additionalProperties: false,
})

/** The same, and may have more: what is told there grows with the program. */
export const open = (required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema => {
  const { additionalProperties: _, ...schema } = closed(required, optional)
  return schema
}
