/** Epoch milliseconds of a time in ISO 8601; a time without a zone is UTC, a day without a time its beginning. Undefined where it is none. */
export const parseTime = (text: string): number | undefined => {
  const [, day, clock = '', zone = 'Z'] = ISO.exec(text) ?? []
  if (day === undefined) return undefined
  const at = Date.parse(clock === '' ? day : `${day}${clock}${zone}`)
  // Date.parse takes the 31st of February for a day in March.
  const exists = !Number.isNaN(at) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
  return exists ? at : undefined
}

const ISO = /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/
