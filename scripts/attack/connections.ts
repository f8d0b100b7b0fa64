import type { Attack } from './attack.ts'
export const connections: Attack = {
  name: 'connections',
  is: 'floods',
  run: async () => ({ tries: 0, findings: [], worstMs: 0 }),
}
