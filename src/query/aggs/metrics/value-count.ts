import { counting } from './metric.ts'

export const valueCountOf = (count: number) => counting('value_count', count)
