/** `--device` of the commands that train a base and what lies beside it. */
import { AppError } from "../../shared/errors.ts";
import { readChoice } from "../command-line.ts";
import { chooseDevice, type Device, DeviceChoice } from "../onnx/device.ts";

/** As `--threads` stands in a usage. */
export const DEVICE_USAGE = "--device <what>   cpu, cuda, webgpu, or auto: CUDA where there is one, else the CPU; default cpu";

/** The device that is asked for. One that is unknown ends the process with 2 as any wrong option does, one that is not there with its error's code. */
export async function readDevice(given: string, usage: string): Promise<Device> {
  try {
    return (await chooseDevice(readChoice("--device", given, usage, DeviceChoice.options))).device;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(error.exitCode);
  }
}
