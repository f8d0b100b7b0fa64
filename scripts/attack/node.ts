import type { Attack } from './attack.ts'
export const node: Attack = { name: 'node', is: 'floods', run: async () => ({ tries: 0, findings: [], worstMs: 0 }) }
