/** `--device` of the commands that train a base and what lies beside it. */
import { readChoice } from "../command-line.ts";
import { chooseDevice, type Device, DeviceChoice } from "../onnx/device.ts";

/** As `--threads` stands in a usage. */
export const DEVICE_USAGE = "--device <what>   cpu, cuda, webgpu, or auto: CUDA where there is one, else the CPU; default cpu";

/** The device that is asked for. An unknown name is refused with the usage, as any wrong option is. @throws {input/invalid} where this machine has no such device, saying why */
export async function readDevice(given: string, usage: string): Promise<Device> {
  return (await chooseDevice(readChoice("--device", given, usage, DeviceChoice.options))).device;
}
